#include "preload/lifecycle/last_thread.h"

#include "preload/record/thread_local.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>

namespace prof::preload {

namespace {

// Whether the main thread has a working folder. One that has left has none. newfstatat is a call that the recorder
// makes anyway: a sandbox that was entered during the recording may kill for openat and read.
bool main_thread_has_folder() {
  struct stat folder {};
  return syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/cwd", &folder, 0) == 0;
}

// Whether the main thread has left. The line of /proc/self/stat is "pid (name) state …", and the name may contain
// parentheses.
bool main_thread_is_zombie() {
  if (main_thread_has_folder()) return false;
  const int fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC));
  if (fd < 0) return false;
  char text[256];
  const long size = syscall(SYS_read, fd, text, sizeof text - 1);
  syscall(SYS_close, fd);
  if (size <= 0) return false;
  text[size] = '\0';
  const char* const name_end = std::strrchr(text, ')');
  return name_end != nullptr && name_end[1] == ' ' && name_end[2] == 'Z';
}

}  // namespace

// By the links of /proc/self/task: one per thread, and two.
uint64_t threads_of_process() {
  struct stat task {};
  if (syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &task, 0) != 0 || task.st_nlink < 3) return 0;
  return task.st_nlink - 2;
}

bool is_last_thread() {
  const KeepErrno keep;
  return threads_of_process() == 2 && syscall(SYS_gettid) != getpid() && main_thread_is_zombie();
}

void leave_as_last_thread() {
  uint64_t all = ~0ull;
  const timespec none{0, 0};
  // Signals that arrived since the last thread of the program ended find no process without the recorder.
  while (syscall(SYS_rt_sigtimedwait, &all, nullptr, &none, sizeof all) > 0) {}
  const uint64_t no_signal = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &no_signal, nullptr, sizeof no_signal);
}

}  // namespace prof::preload
