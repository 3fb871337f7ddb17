// Installs a seccomp filter and goes on computing and launching under it: "kill" allows what a sandboxed computation needs and
// ends the process at anything else; "refuse" answers EPERM to whatever opens, makes or extends files.
#include "tests/sim/sim_program.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

static bool install(const int* calls, size_t count, unsigned listed, unsigned others) {
  sock_filter filter[64];
  unsigned short n = 0;
  filter[n++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (size_t i = 0; i < count; ++i) {
    filter[n++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(calls[i]), 0, 1);
    filter[n++] = BPF_STMT(BPF_RET | BPF_K, listed);
  }
  filter[n++] = BPF_STMT(BPF_RET | BPF_K, others);
  sock_fprog program{n, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "kill") == 0) {
    const int allowed[] = {SYS_write,      SYS_exit_group, SYS_exit,   SYS_brk,
                           SYS_newfstatat, SYS_mmap,       SYS_munmap, SYS_rt_sigreturn};
    std::printf("before\n");
    std::fflush(stdout);
    if (!install(allowed, sizeof allowed / sizeof *allowed, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS)) return 1;
    double sum = 0;
    for (int i = 1; i < 100000; ++i) sum += 1.0 / i;
    std::printf("after %.6f\n", sum);
    std::fflush(stdout);
    syscall(SYS_exit_group, 5);
  }
  const int refused[] = {SYS_openat, SYS_open, SYS_creat, SYS_ftruncate, SYS_fallocate};
  if (!install(refused, sizeof refused / sizeof *refused, SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW)) return 1;
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 1000; ++i) SIM_CHECK(sim_program::launch(function));
  std::printf("open %d errno %d\n", open("/etc/passwd", O_RDONLY), errno);
  return 6;
}
