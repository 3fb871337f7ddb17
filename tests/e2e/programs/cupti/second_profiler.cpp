// Another profiler subscribes to CUPTI in the middle: it works, and GPU times are recorded without any message.
// Link: cupti
// Expect: status 0
// Expect: log 1: 20 kernel_launch(kernel), 20 kernel_run, counter second_cupti 0
// Expect: stderr empty
#include "tests/sim/sim_program.h"

#undef __CUDA_API_VERSION_INTERNAL
#include <cupti.h>

static void callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}
int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 10; ++i) SIM_CHECK(sim_program::launch(function));
  SIM_CHECK(cuCtxSynchronize());
  CUpti_SubscriberHandle subscriber;
  if (cuptiSubscribe(&subscriber, callback, nullptr) != CUPTI_SUCCESS) return 1;
  for (int i = 0; i < 10; ++i) SIM_CHECK(sim_program::launch(function));
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}
