// Another profiler has callbacks of runtime calls, before the first context. CUPTI then records no driver call inside
// of a runtime call. The record of the runtime call leads from the operation to its launch, and the profiler, which did
// not enable those records, gets none.
// Link: runtime
// Expect: status 0
// Expect: stdout callbacks of launches 20, records 0
// Expect: stderr empty
// Expect: log 1: 10 kernel_launch, 10 kernel_run, 2 copy_run, whole, 0 lost
// Expect: report gpu-trace: coverage: launches 12, with GPU time 12; GPU operations 12, with launch 12; lost records 0
#include "tests/e2e/programs/cupti/runtime_callbacks.h"

int main() {
  runtime_callbacks::start_profiler([](CUpti_SubscriberHandle subscriber) {
    return CUPTI(cuptiEnableDomain)(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
  });
  runtime_callbacks::work([] {});
}
