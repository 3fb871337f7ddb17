// The functions that replace NVTX's, one for each row of nvtx_functions.def. A row without its function does not link.
// Each records (nvtx_record.h), then calls the chained tool's function if there is one (nvtx_chain.h). Wide text has a
// frame of its own for its buffer. Each keeps errno, although the first event, growth of the log or the chained tool
// may change it. It runs in the program.
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
