// Which calls can submit an operation to a GPU, by CUPTI's callback ids? They are the launching rows of cuda_api.def
// and all rows of runtime_calls.def. cupti_kinds.cpp and cupti_calls.cpp use it. The tables are made at compile time
// and read on any thread.
#pragma once

#include <cstdint>

namespace prof::preload {

struct DriverCallId {
  uint32_t cbid;     // CUPTI_DRIVER_TRACE_CBID_…
  const char* name;  // as exported, with version and _ptsz
};
struct DriverCallIds {
  const DriverCallId* data;
  uint32_t count;
};
// In the order of cuda_api.def.
DriverCallIds launching_driver_calls();
bool is_launching_driver_call(uint32_t cbid);
// The same for the runtime (runtime_calls.def).
bool is_launching_runtime_call(uint32_t cbid);
// The launching calls of the runtime that came after CUDA 11.8.
bool is_newer_launching_runtime_call(uint32_t cbid);
// Whether a CUPTI of this API version (cuptiGetVersion(), 18 or 130000) knows the call: ids are only appended.
bool driver_call_known(uint32_t version, uint32_t cbid);

}  // namespace prof::preload
