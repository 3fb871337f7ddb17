// What may the log say about the program (PROF_ABOUT)? In the program.
#pragma once

#include "preload/base/options.h"

namespace prof::preload {

// May `what` be written into the log?
inline bool may_tell(option::About what) { return options().about.has(what); }

}  // namespace prof::preload
