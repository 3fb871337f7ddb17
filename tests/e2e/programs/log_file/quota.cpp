// The user's quota is exhausted while the program runs (the file system returns EDQUOT): earlier records are in the
// log, the rest is counted and reported once, and the program is not affected.
// Env: PROF_GPU=off PROF_SLAB=64K
// Expect: status 0
// Expect: stdout done
// Expect: stderr once the log is full (disk, quota, PROF_MAX_SIZE or ulimit -f)
// Expect: logs 1
// Expect: log 1: >=1000 kernel_launch(kernel), whole, counter records_dropped_full >=1, counter log_extend_failed 1
#include "tests/e2e/seccomp_filter.h"
#include "tests/sim/sim_program.h"

#include <cerrno>

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 1000; ++i) SIM_CHECK(sim_program::launch(function));
  if (!install_filter({SYS_fallocate}, SECCOMP_RET_ERRNO | EDQUOT, SECCOMP_RET_ALLOW, Filtered::AllThreads)) return 1;
  for (int i = 0; i < 30000; ++i) SIM_CHECK(sim_program::launch(function));
  std::puts("done");
}
