// _exit() and _Exit() end a process without exit handlers. A program that leaves by them after it synchronised has its
// GPU times: the helper thread finishes the recording first. So does syscall(SYS_exit_group). exit() of libc does not
// come here.
#include "preload/base/libc.h"
#include "preload/lifecycle/helper.h"

#include <sys/syscall.h>
#include <unistd.h>

extern "C" __attribute__((visibility("hidden"))) void* prof_next_syscall;

namespace prof::preload {
namespace {

using ExitFunction = void (*)(int);

// The next _exit after ours, for example that of a sanitizer. It is found when libprof.so is loaded, because dlvsym()
// must not be called in a signal handler.
ExitFunction g_next_exit = nullptr;

__attribute__((constructor)) void find_next_exit() {
  g_next_exit = reinterpret_cast<ExitFunction>(next_function("_exit", PROF_OLDEST_GLIBC));
  prof_next_syscall = next_function("syscall", PROF_OLDEST_GLIBC);
}

}  // namespace
}  // namespace prof::preload

extern "C" {

// syscall.S: the next syscall() after ours; null until it is known.
void* prof_next_syscall = nullptr;
__attribute__((visibility("hidden"))) void prof_before_exit_group() { prof::preload::finish_on_helper_thread(); }

__attribute__((visibility("hidden"), noreturn)) void prof_exit_call(int status) {
  using namespace prof::preload;
  finish_on_helper_thread();
  if (g_next_exit != nullptr) g_next_exit(status);
  for (;;) syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"), alias("prof_exit_call"), noreturn)) void prof_exit_call_a(int status);
__attribute__((visibility("default"), alias("prof_exit_call"), noreturn)) void prof_exit_call_b(int status);
__asm__(".symver prof_exit_call_a, _exit@@" PROF_OLDEST_GLIBC);
__asm__(".symver prof_exit_call_b, _Exit@@" PROF_OLDEST_GLIBC);
}
