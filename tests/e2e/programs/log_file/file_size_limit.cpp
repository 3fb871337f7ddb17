// ulimit -f: no SIGXFSZ reaches the program, what fits is in the log, the rest is counted.
// Env: PROF_GPU=off
// Shell: ulimit -f 4200; {run}
// Expect: status 0
// Expect: stderr once the log is full (disk, quota, PROF_MAX_SIZE or ulimit -f)
// Expect: log 1: >=1000 kernel_launch(kernel), whole, size < 4300801, counter records_dropped_full >=1
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 600000; ++i) SIM_CHECK(sim_program::launch(function));
}
