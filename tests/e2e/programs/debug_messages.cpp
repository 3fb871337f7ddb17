// PROF_LOG=debug prints the recorder's decisions and their reasons on stderr; the program runs as without it.
// Env: PROF_LOG=debug PROF_FLUSH=0.5
// Expect: status 0
// Expect: stderr ] PROF_FLUSH=0.5
// Expect: stderr ] log
// Expect: stderr , mapped, clock
// Expect: stderr ] GPU times by
// Expect: stderr , found PROF_CUPTI
// Expect: stderr ] the last flush: us inside CUPTI
// Expect: stderr ] GPU records collected, outstanding 0
// Expect: stderr ] log closed:
// Expect: log 1: 10 kernel_launch(kernel), whole, 0 lost
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 10; ++i) SIM_CHECK(sim_program::launch(function));
  SIM_CHECK(cuCtxSynchronize());
}
