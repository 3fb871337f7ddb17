// SIGKILL directly after a launch: every launch that had returned is in the log, which has at most 64 KiB of unused
// space after its header.
// Env: PROF_GPU=off
// Expect: status 137
// Expect: log 1: 1234 kernel_launch(kernel), size < 82000
#include "tests/sim/sim_program.h"

#include <signal.h>

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 1234; ++i) SIM_CHECK(sim_program::launch(function));
  raise(SIGKILL);
}
