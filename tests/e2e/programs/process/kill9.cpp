// SIGKILL directly after a launch: every launch that had returned is in the log.
// Env: PROF_GPU=off
// Expect: status 137
// Expect: log 1: 1234 kernel_launch(kernel)
#include "tests/sim/sim_program.h"

#include <signal.h>

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 1234; ++i) SIM_CHECK(sim_program::launch(function));
  raise(SIGKILL);
}
