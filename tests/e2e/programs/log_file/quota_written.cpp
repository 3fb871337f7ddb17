// The user's quota is exhausted on a file system whose files are not mapped (this program reports that type for all):
// the copy that is written every second fails.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: stdout done
// Expect: stderr once cannot write the log (disk, quota or ulimit -f)
// Expect: logs 1
// Expect: log 1: 1000 kernel_launch(kernel)
#include "tests/e2e/seccomp_filter.h"
#include "tests/sim/sim_program.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <cerrno>

extern "C" int fstatfs(int, struct statfs* of) noexcept {
  *of = {};
  of->f_type = NFS_SUPER_MAGIC;
  return 0;
}

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 1000; ++i) SIM_CHECK(sim_program::launch(function));
  sleep(3);  // copied
  if (!install_filter({SYS_pwrite64}, SECCOMP_RET_ERRNO | EDQUOT, SECCOMP_RET_ALLOW, Filtered::AllThreads)) return 1;
  for (int i = 0; i < 1000; ++i) SIM_CHECK(sim_program::launch(function));
  sleep(3);  // refused, more than once
  std::puts("done");
}
