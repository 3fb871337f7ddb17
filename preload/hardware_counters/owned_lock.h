// How is a lock held across calls into the driver, by one thread for many milliseconds? Hooks have no destructors. A
// thread that left such a call by longjmp takes the lock again. A thread that was cancelled in the call loses it to the
// next waiter. Only hardware counters use it. No code on the path of an event may take it.
#pragma once

#include <atomic>
#include <cstdint>

namespace prof::preload {

class OwnedLock {
 public:
  enum class Taken { No, Yes, Inherited };  // Inherited: the last owner did not finish its operation
  // Waits until CLOCK_MONOTONIC `until_ns`.
  Taken take(uint64_t until_ns = ~0ull);
  void give();
  // Called in the child of a fork.
  void abandon() { owner_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> owner_{0};  // system thread id; futex word
};

// Whether a thread of this process has that system thread id.
bool thread_lives(uint32_t tid);
uint32_t system_thread_id();

}  // namespace prof::preload
