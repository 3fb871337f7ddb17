// How does a thread wake the helper thread (lifecycle/helper.h)? Any thread may do so, also in a signal handler. This
// code runs in the program.
#pragma once

#include <atomic>
#include <cstdint>

struct timespec;

namespace prof::preload {

// The helper thread calls the first one when it starts.
void note_helper_thread();
bool on_helper_thread();

// Wakes the helper thread. It costs one futex call, once in 25,000 records. Keeps errno.
void wake_helper();

// For the helper thread: the number of wakes so far, and a wait until that number differs from `seen`, at most `pause`.
uint32_t helper_wakes();
void await_helper_wake(uint32_t seen, const timespec& pause);

// FUTEX_WAIT and FUTEX_WAKE on a word of this process. If `timeout` is null, the wait has no limit.
long futex(std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* timeout);

}  // namespace prof::preload
