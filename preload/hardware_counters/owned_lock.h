// A lock that is held across calls into the driver, by one thread for many milliseconds. Hooks have no destructors: a thread that left
// such a call by longjmp takes it again, one that was cancelled in it loses it to whoever waits. Used by hardware counters alone; nothing on
// the path of an event locks.
#pragma once

#include <atomic>
#include <cstdint>

namespace prof::preload {

class OwnedLock {
 public:
  enum class Taken { No, Yes, Inherited };  // Inherited: what its last owner was in the middle of never ended
  // Waits until CLOCK_MONOTONIC `until_ns`.
  Taken take(uint64_t until_ns = ~0ull);
  void give();
  // In the child of a fork.
  void abandon() { owner_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> owner_{0};  // system thread id; futex word
};

// Whether a thread of this process has that system thread id.
bool thread_lives(uint32_t tid);
uint32_t system_thread_id();

}  // namespace prof::preload
