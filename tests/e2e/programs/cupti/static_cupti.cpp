// A program with its own, statically linked CUPTI keeps it. One line reports that there are no GPU times and which file
// has the CUPTI, and the host side is recorded.
// Env: PROF_CUPTI=
// Expect: status 0
// Expect: log 1: 3 kernel_launch(kernel), no kernel_run, counter cupti_unavailable 1, text static_cupti: a CUPTI of its own is linked into it
// Expect: stderr libprof: no GPU times: /
// Expect: stderr /static_cupti: a CUPTI of its own is linked into it, and two cannot share a process; the host side is recorded
#include "tests/sim/sim_program.h"

// What the linker takes from libcupti_static.a, as far as it is visible from outside.
static const char* const volatile results[] = {"CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES",
                                               "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"};
extern "C" __attribute__((visibility("hidden"), noinline)) int cuptiActivityEnable(int kind) {
  static volatile int enabled;
  enabled = enabled | 1 << kind;
  return 0;
}

int main() {
  if (cuptiActivityEnable(3) != 0 || results[0] == results[1]) return 1;
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 3; ++i) SIM_CHECK(sim_program::launch(function));
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}
