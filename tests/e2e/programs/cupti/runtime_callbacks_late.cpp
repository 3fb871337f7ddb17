// The same as runtime_callbacks for a profiler that comes when GPU times are collected already, and requests callbacks
// of one function.
// Link: runtime
// Expect: status 0
// Expect: stdout callbacks of launches 10, records 0
// Expect: stderr empty
// Expect: log 1: 10 kernel_launch, 10 kernel_run, 2 copy_run, whole, 0 lost
// Expect: report gpu-trace: coverage: launches 12, with GPU time 12; GPU operations 12, with launch 12; lost records 0
#include "tests/e2e/programs/cupti/runtime_callbacks.h"

int main() {
  runtime_callbacks::work([] {
    RUNTIME_CHECK(cudaDeviceSynchronize());
    runtime_callbacks::start_profiler([](CUpti_SubscriberHandle subscriber) {
      return CUPTI(cuptiEnableCallback)(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
                                        CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
    });
  });
}
