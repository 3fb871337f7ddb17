// What may the log contain about the program (PROF_ABOUT)? The recorder checks it before it describes the process and
// its libraries. This code runs in the program.
#pragma once

#include "preload/base/options.h"

namespace prof::preload {

// Whether `what` may be written into the log.
inline bool may_tell(option::About what) { return options().about.has(what); }

}  // namespace prof::preload
