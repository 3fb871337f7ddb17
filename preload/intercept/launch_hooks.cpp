// The hooks that inline everything that they call (hook.h, PROF_FLAT_ROWS). No other hook is instantiated in this file.
#include "preload/intercept/hook.h"
#include "preload/intercept/records/record_launch.h"

namespace prof::preload {

#define PROF_FLAT_ROW(name) template struct Hook<Api::name>;
PROF_FLAT_ROWS(PROF_FLAT_ROW)
#undef PROF_FLAT_ROW

}  // namespace prof::preload
