// A program in a mount namespace without /proc, and one that changes its root directory before its first CUDA call:
// both are recorded. After a chroot the log is inside the new root, and one line says so. Needs root.
// Shell: {run} proc && mkdir root && {run} root
// Expect: status 0
// Expect: stderr once libprof: the program changed its root directory; the log is
// Expect: logs 2
// Expect: log 1: 100 kernel_launch, whole, 0 lost
// Expect: log 2: 100 kernel_launch, whole, 0 lost
#include "tests/sim/sim_program.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

using namespace sim_program;

int main(int, char** argv) {
  const std::string_view how = argv[1];
  if (how == "proc") {
    if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        mount("none", "/proc", "tmpfs", 0, nullptr) == 0 && access("/proc/self", F_OK) == 0)
      return 1;
  } else if (chroot("root") != 0 || chdir("/") != 0) {
    return 2;
  }
  make_context();
  for (int i = 0; i < 100; ++i) SIM_CHECK(launch(kernel("kernel")));
  return 0;
}
