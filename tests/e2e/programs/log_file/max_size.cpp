// PROF_MAX_SIZE: recording stops there, the lost records are counted, and the program is not affected.
// Env: PROF_GPU=off PROF_MAX_SIZE=1M
// Expect: status 0
// Expect: stderr once the log is full (disk, quota, PROF_MAX_SIZE or ulimit -f)
// Expect: log 1: >=1000 kernel_launch(kernel), whole, size < 1048577, counter records_dropped_full >=1
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 200000; ++i) SIM_CHECK(sim_program::launch(function));
}
