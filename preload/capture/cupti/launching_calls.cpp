#include "preload/capture/cupti/launching_calls.h"

#include "preload/capture/cupti/cupti_headers.h"
#include "preload/capture/cupti/newer_callbacks.h"
#include "preload/driver/operation_topics.h"

namespace prof::preload {

namespace {

constexpr uint32_t kLaunchingCount = 0
#define CUDA_API(name, topic, ...) +(is_operation_topic(#topic) ? 1 : 0)
#include "preload/driver/cuda_api.def"
#undef CUDA_API
    ;

struct LaunchingCalls {
  DriverCallId row[kLaunchingCount] = {};
};
constexpr LaunchingCalls launching_calls() {
  LaunchingCalls calls;
  uint32_t at = 0;
#define CUDA_API(name, topic, ...) \
  if (is_operation_topic(#topic)) calls.row[at++] = {CUPTI_DRIVER_TRACE_CBID_##name, #name};
#include "preload/driver/cuda_api.def"
#undef CUDA_API
  return calls;
}
constexpr LaunchingCalls kLaunchingCalls = launching_calls();

// Sets of callback ids: another profiler may have enabled all calls.
struct CallbackSet {
  uint64_t word[32] = {};
  constexpr void add(uint32_t cbid) {
    if (cbid < 32 * 64) word[cbid / 64] |= uint64_t{1} << (cbid % 64);
  }
  constexpr bool has(uint32_t cbid) const { return cbid < 32 * 64 && (word[cbid / 64] >> (cbid % 64) & 1) != 0; }
};
constexpr CallbackSet launching_driver_set() {
  CallbackSet set;
  for (const DriverCallId& call : kLaunchingCalls.row) set.add(call.cbid);
  return set;
}
constexpr CallbackSet kLaunchingDriver = launching_driver_set();

constexpr uint32_t kRuntimeCalls[] = {
#define RUNTIME_CALL(name) CUPTI_RUNTIME_TRACE_CBID_##name,
#include "preload/capture/cupti/runtime_calls.def"
#undef RUNTIME_CALL
};
constexpr CallbackSet launching_runtime_set() {
  CallbackSet set;
  for (const uint32_t cbid : kRuntimeCalls) set.add(cbid);
  return set;
}
constexpr CallbackSet kLaunchingRuntime = launching_runtime_set();

}  // namespace

bool is_launching_driver_call(uint32_t cbid) { return kLaunchingDriver.has(cbid); }

bool is_launching_runtime_call(uint32_t cbid) { return kLaunchingRuntime.has(cbid); }

// By number: the header of the build may lack their names, and CUPTI never reuses a number.
bool is_newer_launching_runtime_call(uint32_t cbid) {
  const bool batch_12_8 = cbid >= 482 && cbid <= 485;   // cudaMemcpyBatchAsync, cudaMemcpy3DBatchAsync
  const bool batch_13_0 = cbid >= 509 && cbid <= 512;   // again, with other arguments
  const bool launch_13_0 = cbid == 505 || cbid == 506;  // __cudaLaunchKernel, which <<<>>> calls
  return batch_12_8 || batch_13_0 || launch_13_0;
}

DriverCallIds launching_driver_calls() { return {kLaunchingCalls.row, kLaunchingCount}; }

bool driver_call_known(uint32_t version, uint32_t cbid) {
  if (cbid >= CUPTI_DRIVER_TRACE_CBID_cuMemcpyWithAttributesAsync) return version >= 130200;
  if (cbid >= CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2) return version >= 130000;
  if (cbid >= CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync) return version >= 26;  // CUDA 12.8
  if (cbid >= CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx) return version >= 18;    // CUDA 11.8
  return true;
}

}  // namespace prof::preload
