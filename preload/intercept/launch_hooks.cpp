// The hooks that inline everything they call (hook.h, PROF_FLAT_ROWS), alone in a file.
#include "preload/intercept/hook.h"
#include "preload/intercept/records/record_launch.h"

namespace prof::preload {

#define PROF_FLAT_ROW(name) template struct Hook<Api::name>;
PROF_FLAT_ROWS(PROF_FLAT_ROW)
#undef PROF_FLAT_ROW

}  // namespace prof::preload
