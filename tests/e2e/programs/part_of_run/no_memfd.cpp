// A kernel without memfd_create: a process that waits for `prof ctl PID start` cannot be reached. One line gives the
// reason, and the program runs.
// Env: PROF_START=ctl
// Expect: status 0
// Expect: stdout ran
// Expect: stderr once no page for prof ctl
// Expect: logs 0
#include "tests/e2e/seccomp_filter.h"
#include "tests/sim/sim_program.h"

#include <cerrno>

int main() {
  if (!install_filter({SYS_memfd_create}, SECCOMP_RET_ERRNO | ENOSYS, SECCOMP_RET_ALLOW, Filtered::ThisThread))
    return 1;
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 100; ++i) SIM_CHECK(sim_program::launch(function));
  std::puts("ran");
}
