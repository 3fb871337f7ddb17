// A sandbox refuses stat and fstat before the first CUDA call, so the log's file could not be recognised later: one
// line gives the reason, and no log is left. The program runs.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: stdout ran
// Expect: stderr once libprof:
// Expect: stderr once fstat() of the log is refused
// Expect: logs 0
#include "tests/e2e/seccomp_filter.h"
#include "tests/sim/sim_program.h"

#include <cerrno>

int main() {
  if (!install_filter({SYS_newfstatat, SYS_fstat, SYS_statx}, SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW,
                      Filtered::ThisThread))
    return 1;
  sim_program::make_context();
  for (int i = 0; i < 100; ++i) SIM_CHECK(sim_program::launch(sim_program::kernel("kernel")));
  std::puts("ran");
}
