// No handler of the program runs on this thread while one of these lives: around the start of our own threads, which inherit the
// mask, and around the few instructions that must not be interrupted half way. By system calls: libc's functions leave out the
// signals it cancels threads with.
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
