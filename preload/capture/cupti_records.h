// How is a buffer that CUPTI completed read? Its records become KernelRun, CopyRun, FillRun, GraphRun and UnifiedMemory
// on the calling thread's stream. cupti_calls.h reads the records of calls. It runs on CUPTI's thread or inside a flush
// of ours. It never allocates, locks or calls the driver.
#pragma once

#include "preload/capture/cupti/cupti_front.h"

namespace prof::preload {

// `scratch` is CuptiBuffers::kScratchBytes of memory for this call alone. The caller is inside a scope that records.
ReadCounts read_cupti_buffer(const Cupti& api, uint32_t version, uint8_t* buffer, size_t valid_bytes, void* scratch);

}  // namespace prof::preload
