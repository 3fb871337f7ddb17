// Reading a buffer that CUPTI completed: its records become KernelRun, CopyRun, FillRun, GraphRun, DriverCalls and
// ExternalCalls on the calling thread's stream. Runs on CUPTI's thread or inside a flush of ours; never allocates, locks or calls the driver.
#pragma once

#include "preload/capture/cupti_library.h"

namespace prof::preload {

struct ReadCounts {
  uint64_t operations = 0;  // kernels, copies, fills and whole graphs with valid times
  uint64_t calls = 0;       // driver calls and external ids
};

// `scratch` is CuptiBuffers::kScratchBytes of memory for this call alone. The caller is inside an EventScope that records.
ReadCounts read_cupti_buffer(const Cupti& api, uint32_t version, uint8_t* buffer, size_t valid_bytes, void* scratch);

// The driver calls that can put work on a GPU, as rows of cuda_api.def: the ones CUPTI is asked to name.
struct DriverCallId {
  uint32_t cbid;
  const char* name;
};
struct DriverCallIds {
  const DriverCallId* data;
  uint32_t count;
};
DriverCallIds launching_driver_calls();
bool is_launching_driver_call(uint32_t cbid);
// The same of the runtime (runtime_calls.def).
bool is_launching_runtime_call(uint32_t cbid);
// Whether a CUPTI of this API version knows the call: ids are only ever appended.
bool driver_call_known(uint32_t version, uint32_t cbid);

}  // namespace prof::preload
