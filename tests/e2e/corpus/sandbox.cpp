// Installs a seccomp filter and continues to compute and launch under it. "kill" allows what a sandboxed computation
// needs and ends the process at any other call; "refuse" returns EPERM for calls that open, make or extend files.
#include "tests/e2e/seccomp_filter.h"
#include "tests/sim/sim_program.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "kill") == 0) {
    std::printf("before\n");
    std::fflush(stdout);
    if (!install_filter(
            {SYS_write, SYS_exit_group, SYS_exit, SYS_brk, SYS_newfstatat, SYS_mmap, SYS_munmap, SYS_rt_sigreturn},
            SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS, Filtered::ThisThread))
      return 1;
    double sum = 0;
    for (int i = 1; i < 100000; ++i) sum += 1.0 / i;
    std::printf("after %.6f\n", sum);
    std::fflush(stdout);
    syscall(SYS_exit_group, 5);
  }
  if (!install_filter(
          {
            SYS_openat, SYS_ftruncate, SYS_fallocate
#if defined(SYS_open)  // aarch64 has neither
                ,
                SYS_open, SYS_creat
#endif
          },
          SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW, Filtered::ThisThread))
    return 1;
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 1000; ++i) SIM_CHECK(sim_program::launch(function));
  std::printf("open %d errno %d\n", open("/etc/passwd", O_RDONLY), errno);
  return 6;
}
