// Names that the program gives to categories, threads and CUDA's objects (format/nvtx_events.h). It runs in the
// program.
#pragma once

#include "preload/format/nvtx_events.h"
#include "preload/intercept/nvtx/nvtx_record.h"

#include <cstdint>
#include <string_view>

namespace prof::preload {

// Names of categories are definitions. Names of threads, devices, streams and other objects are events, because handles
// are reused.
void nvtx_name_category(NvtxObject* domain, uint32_t category, std::string_view name);
struct NvtxNamed {
  format::NamedKind what{};
  uint64_t object = 0;
  NvtxObject* domain = nullptr;
  uint32_t type = 0;
  bool gone = false;
};
void nvtx_name(const NvtxNamed& named, std::string_view name);

}  // namespace prof::preload
