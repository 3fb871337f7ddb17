// What may the log say about the program (PROF_ABOUT)? In the program.
#pragma once

#include <string_view>

namespace prof::preload {

// May `what` (command, environment, paths, host) be written into the log?
bool may_tell(std::string_view what);

}  // namespace prof::preload
