// Which driver calls are libprof.so's own? CUPTI records them like the program's. While another profiler collects
// driver calls, their times are kept, and cupti_client_copy.cpp leaves their records out of what that profiler gets.
// RelaxedCalls (driver.h) notes them, on any thread.
#pragma once

#include "preload/base/clock.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

extern std::atomic<bool> g_note_own_calls;

// This thread made calls of its own from `begin` (our GPU clock) until now.
void note_own_calls(uint64_t begin);
// Whether a call that began at `start` on this thread is among its last few hundred that were noted.
bool is_own_call(uint32_t tid, uint64_t start);

// The same around one call that needs no more.
template <class Call> void own_call(Call&& call) {
  if (!g_note_own_calls.load(std::memory_order_relaxed)) [[likely]] {
    call();
    return;
  }
  const uint64_t begin = gpu_clock_ns();
  call();
  note_own_calls(begin);
}

}  // namespace prof::preload
