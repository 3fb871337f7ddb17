// The output folder cannot be written: the program runs unchanged, and one line gives the reason why nothing is
// recorded.
// Env: PROF_OUTPUT=/proc/nowhere
// Expect: status 0
// Expect: logs 0
// Expect: stderr once libprof:
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 100; ++i) SIM_CHECK(sim_program::launch(function));
  SIM_CHECK(cuCtxSynchronize());
}
