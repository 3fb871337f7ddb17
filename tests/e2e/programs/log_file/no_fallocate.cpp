// A kernel without fallocate (ENOSYS), and a file system without it (EOPNOTSUPP), from the first call on: the log is
// filled with zeros instead, and all records are in it.
// Env: PROF_GPU=off PROF_SLAB=64K
// Shell: {run} kernel && {run} "file system"
// Expect: status 0
// Expect: stderr empty
// Expect: logs 2
// Expect: log 1: 30000 kernel_launch(kernel), whole, 0 lost
// Expect: log 2: 30000 kernel_launch(kernel), whole, 0 lost
#include "tests/e2e/seccomp_filter.h"
#include "tests/sim/sim_program.h"

#include <cerrno>
#include <string_view>

int main(int, char** argv) {
  const unsigned error = argv[1] == std::string_view("kernel") ? ENOSYS : EOPNOTSUPP;
  if (!install_filter({SYS_fallocate}, SECCOMP_RET_ERRNO | error, SECCOMP_RET_ALLOW, Filtered::ThisThread)) return 1;
  sim_program::make_context();  // threads that are created later inherit the filter
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 30000; ++i) SIM_CHECK(sim_program::launch(function));
}
