// A program enters a sandbox that kills for every system call that it does not know, on all threads, while it is
// recorded. The recorder makes only the calls that libprof(7) lists: the program launches, waits and ends as without
// it. A process that does not record makes no call at all for its end.
// Env: PROF_GPU=off PROF_SLAB=64K SIM_CLOCK=real
// Shell: for how in exit _exit nvtx; do {run} $how; [ $? = 7 ] || exit 1; done; {run} strict; [ $? = 9 ] || exit 2
// Expect: status 0
// Expect: stderr empty
// Expect: logs 3
// Expect: log 1: 30000 kernel_launch, whole, 0 lost
// Expect: log 2: 30000 kernel_launch, whole, 0 lost
// Expect: log 3: 30000 nvtx_mark, whole, 0 lost
#include "tests/e2e/seccomp_filter.h"
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExt.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <string_view>

int main(int, char** argv) {
  const std::string_view how = argv[1];
  if (how == "strict") {
    if (!install_filter({SYS_exit_group}, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS, Filtered::ThisThread)) return 1;
    _exit(9);
  }
  // NVTX alone: the helper thread is the only thread beside the main thread.
  const bool driver = how != "nvtx";
  if (driver) sim_program::make_context();
  const CUfunction function = driver ? sim_program::kernel("kernel") : nullptr;
  const auto call = [&] {
    if (driver) {
      SIM_CHECK(sim_program::launch(function));
    } else {
      nvtxMarkA("mark");
    }
  };
  for (int i = 0; i < 100; ++i) call();
  const timespec started{0, 10'000'000};
  nanosleep(&started, nullptr);  // libc's own calls of new threads
  const bool installed = install_filter(
      {
          // of the recorder
          SYS_newfstatat,
          SYS_fstatfs,
          SYS_prlimit64,
          SYS_fallocate,
          SYS_mmap,
          SYS_munmap,
          SYS_madvise,
          SYS_rt_sigprocmask,
          SYS_rt_sigtimedwait,
          SYS_pwrite64,
          SYS_futex,
          SYS_ftruncate,
          SYS_getpid,
          SYS_gettid,
          SYS_close,
          // of libc and the program
          SYS_exit,
          SYS_exit_group,
          SYS_brk,
          SYS_mprotect,
          SYS_write,
          SYS_clock_nanosleep,
          SYS_nanosleep,
          SYS_rt_sigreturn,
          SYS_clock_gettime,
      },
      SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS, Filtered::AllThreads);
  if (!installed) return 2;
  for (int i = 0; i < 29900; ++i) call();
  const timespec pause{1, 300'000'000};  // anchors, flushes, looks at other threads
  nanosleep(&pause, nullptr);
  if (how == "_exit") _exit(7);
  exit(7);
}
