// Blocks signals on this thread for a scope. System calls do it, because libc's functions leave out the signals that
// libc uses for cancellation.
#pragma once

#include "preload/base/options.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <ctime>

namespace prof::preload {

// No handler of the program runs in the scope. One use is around the start of our own threads, which inherit the mask.
// Another use is around a few instructions that must not be interrupted.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    uint64_t all = ~0ull;
    if (options().sigbus) all &= ~(1ull << (SIGBUS - 1));  // a fault while blocked ends the process
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old_, sizeof all);
  }
  ~SignalsBlocked() { syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old_, nullptr, sizeof old_); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  uint64_t old_ = 0;
};

// The recorder's own writes raise no signal in the program: SIGXFSZ (beyond `ulimit -f`) and SIGPIPE (a closed pipe)
// would kill it. One that the scope raised is dropped.
class WriteSignalsBlocked {
 public:
  WriteSignalsBlocked() { syscall(SYS_rt_sigprocmask, SIG_BLOCK, &kRaised, &old_, sizeof old_); }
  ~WriteSignalsBlocked() {
    const uint64_t ours = kRaised & ~old_;  // one that this thread does not block cannot have been pending
    const timespec none{0, 0};
    while (ours != 0 && syscall(SYS_rt_sigtimedwait, &ours, nullptr, &none, sizeof ours) > 0) {}
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old_, nullptr, sizeof old_);
  }
  WriteSignalsBlocked(const WriteSignalsBlocked&) = delete;
  WriteSignalsBlocked& operator=(const WriteSignalsBlocked&) = delete;

 private:
  static constexpr uint64_t kRaised = 1ull << (SIGXFSZ - 1) | 1ull << (SIGPIPE - 1);
  uint64_t old_ = 0;
};

}  // namespace prof::preload
