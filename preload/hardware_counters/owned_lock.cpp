#include "preload/hardware_counters/owned_lock.h"

#include "preload/base/clock.h"
#include "preload/base/helper_wake.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace prof::preload {

bool thread_lives(uint32_t tid) {
  const int saved = errno;
  const bool lives = syscall(SYS_tgkill, getpid(), static_cast<pid_t>(tid), 0) == 0 || errno != ESRCH;
  errno = saved;
  return lives;
}

uint32_t system_thread_id() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

OwnedLock::Taken OwnedLock::take(uint64_t until_ns) {
  const uint32_t self = system_thread_id();
  uint32_t owner = 0;
  while (!owner_.compare_exchange_strong(owner, self, std::memory_order_acquire)) {
    if (owner == self) return Taken::Inherited;
    if (!thread_lives(owner)) {
      if (owner_.compare_exchange_strong(owner, self, std::memory_order_acquire)) return Taken::Inherited;
      owner = 0;
      continue;
    }
    if (monotonic_ns() >= until_ns) return Taken::No;
    const int saved = errno;
    const timespec look_again{0, 20'000'000};
    futex(owner_, FUTEX_WAIT, owner, &look_again);
    errno = saved;
    owner = 0;
  }
  return Taken::Yes;
}

void OwnedLock::give() {
  owner_.store(0, std::memory_order_release);
  const int saved = errno;
  futex(owner_, FUTEX_WAKE, 1, nullptr);
  errno = saved;
}

}  // namespace prof::preload
