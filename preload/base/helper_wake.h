// How any thread wakes the helper thread (lifecycle/helper.h), also in a signal handler. In the program.
#pragma once

#include <atomic>
#include <cstdint>

struct timespec;

namespace prof::preload {

// There is something for the helper thread to do. One futex call, once in 25,000 records. Keeps errno.
void wake_helper();

// For the helper thread: how often it was woken so far, and a wait until that is no longer `seen`, at most `pause`.
uint32_t helper_wakes();
void await_helper_wake(uint32_t seen, const timespec& pause);

// FUTEX_WAIT and FUTEX_WAKE on a word of this process. `timeout`: null waits without limit.
long futex(std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* timeout);

}  // namespace prof::preload
