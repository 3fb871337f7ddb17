// unshare() and setns() fail in a process with several threads if they change the user namespace, and setns() also for
// some other namespaces. If the helper thread is the only other thread, it ends before the call and starts again
// afterwards. So the call succeeds or fails as it would without the recorder. syscall() comes here too (syscall.S).
#include "preload/base/libc.h"
#include "preload/lifecycle/helper.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

// Not syscall(), which may be ours and come here.
#if defined(__x86_64__)
extern "C" __attribute__((visibility("hidden"))) long prof_direct_syscall(long, ...);
#else
#define prof_direct_syscall syscall
#endif

#if defined(__aarch64__)
#define PROF_UNSHARE_VERSION PROF_OLDEST_GLIBC
#define PROF_SETNS_VERSION PROF_OLDEST_GLIBC
#else
#define PROF_UNSHARE_VERSION "GLIBC_2.4"
#define PROF_SETNS_VERSION "GLIBC_2.14"
#endif

namespace prof::preload {
namespace {

int (*g_next_unshare)(int) = nullptr;
int (*g_next_setns)(int, int) = nullptr;

__attribute__((constructor)) void find_next_calls() {
  g_next_unshare = reinterpret_cast<int (*)(int)>(next_function("unshare", PROF_UNSHARE_VERSION));
  g_next_setns = reinterpret_cast<int (*)(int, int)>(next_function("setns", PROF_SETNS_VERSION));
}

constexpr int kUnshareNeedsOneThread = CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM;
constexpr int kSetnsTakesThreads = CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWCGROUP | CLONE_NEWPID;

// Makes a call while the helper thread is gone.
template <class Call> int without_helper(bool needed, Call&& call) {
  const bool paused = needed && pause_helper();
  const int result = call();
  if (!paused) return result;
  const int error = errno;
  resume_helper();
  errno = error;
  return result;
}

}  // namespace
}  // namespace prof::preload

extern "C" {

__attribute__((visibility("hidden"))) int prof_unshare_call(int flags) {
  using namespace prof::preload;
  return without_helper((flags & kUnshareNeedsOneThread) != 0, [flags] {
    return g_next_unshare != nullptr ? g_next_unshare(flags)
                                     : static_cast<int>(prof_direct_syscall(SYS_unshare, flags));
  });
}

__attribute__((visibility("hidden"))) int prof_setns_call(int fd, int type) {
  using namespace prof::preload;
  return without_helper(type == 0 || (type & ~kSetnsTakesThreads) != 0, [fd, type] {
    return g_next_setns != nullptr ? g_next_setns(fd, type)
                                   : static_cast<int>(prof_direct_syscall(SYS_setns, fd, type));
  });
}

__attribute__((visibility("default"), alias("prof_unshare_call"))) int prof_unshare_call_a(int flags);
__attribute__((visibility("default"), alias("prof_setns_call"))) int prof_setns_call_a(int fd, int type);
__asm__(".symver prof_unshare_call_a, unshare@@" PROF_UNSHARE_VERSION);
__asm__(".symver prof_setns_call_a, setns@@" PROF_SETNS_VERSION);
}
