// A seccomp filter for test programs: the action for the listed system calls, and the action for all others.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <initializer_list>

enum class Filtered : unsigned { ThisThread = 0, AllThreads = SECCOMP_FILTER_FLAG_TSYNC };

// `listed`, `others`: SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ERRNO | a number of errno.h. At most 30
// calls.
inline bool install_filter(std::initializer_list<int> calls, unsigned listed, unsigned others, Filtered threads) {
  sock_filter filter[64];
  unsigned short n = 0;
  filter[n++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (const int call : calls) {
    filter[n++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1);
    filter[n++] = BPF_STMT(BPF_RET | BPF_K, listed);
  }
  filter[n++] = BPF_STMT(BPF_RET | BPF_K, others);
  sock_fprog program{n, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, static_cast<unsigned>(threads), &program) == 0;
}
