// Reading a buffer that CUPTI completed: its records become KernelRun, CopyRun, FillRun, GraphRun and UnifiedMemory on the calling
// thread's stream, those of calls what cupti_calls.h says. Runs on CUPTI's thread or inside a flush of ours; never allocates, locks or calls the driver.
#pragma once

#include "preload/capture/cupti/cupti_front.h"

namespace prof::preload {

// `scratch` is CuptiBuffers::kScratchBytes of memory for this call alone. The caller is inside a scope that records.
ReadCounts read_cupti_buffer(const Cupti& api, uint32_t version, uint8_t* buffer, size_t valid_bytes, void* scratch);

}  // namespace prof::preload
