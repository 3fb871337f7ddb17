// The functions that stand in for NVTX's, one for each row of nvtx_functions.def; a row without its function does not link. Each
// records (nvtx_events.h), then calls the chained tool's, if it has one (nvtx_chain.h). Wide text has a frame of its own for its
// buffer. Each keeps errno: a slow first event, the log growing, the chained tool, none of it may show there. In the program.
#pragma once

#include "preload/format/block.h"
#include "preload/intercept/nvtx/nvtx_api.h"

#include <type_traits>

namespace prof::preload {

struct WideBuffer {
  char bytes[format::kMaxTextBytes];
};

namespace nvtx_functions {
#define NVTX_FUNCTION(module, name, kind) std::remove_pointer_t<nvtx##name##_##kind##_fntype> name;
#include "preload/intercept/nvtx/nvtx_functions.def"
#undef NVTX_FUNCTION
}  // namespace nvtx_functions

}  // namespace prof::preload
