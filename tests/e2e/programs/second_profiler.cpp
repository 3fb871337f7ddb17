// Another profiler takes CUPTI in the middle: it works, our GPU times end there, counted and said; the host side goes on.
// Link: cupti
// Expect: status 0
// Expect: log 1: 20 kernel_launch(kernel), counter cupti_taken_away 1
// Expect: stderr libprof:
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
