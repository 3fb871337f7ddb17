// The same with a filter that kills: for the kernel, the recorder's system calls are the program's, so the program may
// die where it would not without libprof (libprof(7), BUGS). Its log is that of a killed process: whole, with all calls
// that had returned.
// Env: PROF_GPU=off PROF_SLAB=64K
// Expect: status 159
// Expect: stdout before
// Expect: logs 1
// Expect: log 1: >=1000 kernel_launch(kernel), whole, 0 lost
#include "tests/e2e/seccomp_filter.h"
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 1000; ++i) SIM_CHECK(sim_program::launch(function));
  std::puts("before");
  std::fflush(stdout);
  if (!install_filter({SYS_openat, SYS_fallocate, SYS_ftruncate, SYS_mmap}, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW,
                      Filtered::AllThreads))
    return 1;
  for (int i = 0; i < 30000; ++i) SIM_CHECK(sim_program::launch(function));
  std::puts("after");
}
