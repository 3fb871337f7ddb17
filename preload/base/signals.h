// Blocks signals on this thread for a scope, so that no handler of the program runs in it. One use is around the start
// of our own threads, which inherit the mask. Another use is around a few instructions that must not be interrupted.
// System calls do it, because libc's functions leave out the signals that libc uses for cancellation.
#pragma once

#include "preload/base/options.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

namespace prof::preload {

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

}  // namespace prof::preload
