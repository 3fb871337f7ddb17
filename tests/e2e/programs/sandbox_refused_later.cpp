// A recorded program forbids, for all its threads, the system calls that open and extend files. The first of two runs
// also forbids those that allocate memory (not the second, because the simulated CUPTI needs them). The program goes on
// as without libprof. Records that fit into the existing log are recorded, the rest is counted.
// Env: PROF_SLAB=64K
// Shell: PROF_GPU=off {run} memory; echo status $?; {run}
// Expect: status 7
// Expect: stdout status 7
// Expect: stdout done, errno kept
// Expect: stderr the log is full (disk, quota, PROF_MAX_SIZE or ulimit -f)
// Expect: logs 2
// Expect: log 1: >=1000 kernel_launch(kernel), whole, counter records_dropped_full >=1
// Expect: log 2: >=1000 kernel_launch(kernel), whole, counter records_dropped_full >=1
#include "tests/e2e/seccomp_filter.h"
#include "tests/sim/sim_program.h"

#include <cerrno>

int main(int argc, char**) {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 1000; ++i) SIM_CHECK(sim_program::launch(function));
  const unsigned refuse = SECCOMP_RET_ERRNO | EPERM;
  if (argc > 1 && !install_filter({SYS_mmap, SYS_madvise}, refuse, SECCOMP_RET_ALLOW, Filtered::AllThreads)) return 1;
  if (!install_filter({SYS_openat, SYS_newfstatat, SYS_fstatfs, SYS_prlimit64, SYS_fallocate, SYS_ftruncate,
                       SYS_pwrite64, SYS_rt_sigtimedwait},
                      refuse, SECCOMP_RET_ALLOW, Filtered::AllThreads))
    return 1;
  errno = 0;
  for (int i = 0; i < 30000; ++i) {
    SIM_CHECK(sim_program::launch(function));
    if (i % 100 == 0) SIM_CHECK(cuCtxSynchronize());  // until then the simulated GPU keeps the submitted operations
  }
  std::printf("done, errno %s\n", errno == 0 ? "kept" : "changed");
  return 7;
}
