// When is CUPTI flushed besides every PROF_FLUSH? A program may leave without exit handlers soon after it synchronised
// (a system call, a signal). So a returned synchronising call makes the helper thread flush, at most once in 20 ms. The
// hooks of these calls and the helper thread use it. This code runs in the program.
//
//   Idle      nothing to do; the next synchronising call wakes the helper thread
//   Watching  the helper thread looked less than 20 ms ago and looks again then
//   Wanted    a synchronising call returned since; when it looks, the helper thread flushes if GPU records are missing
//   Off       CUPTI does not collect all the time (PROF_GPU=off, bursts, the end), or PROF_FLUSH=0
#pragma once

#include <atomic>
#include <cstdint>

namespace prof::preload {

enum class WaitFlush : uint32_t { Idle, Watching, Wanted, Off };
extern std::atomic<WaitFlush> g_wait_flush;

void want_flush_after_wait_slow();
// A call that waited for the GPU has returned. In a program that synchronises all the time: one load.
inline void want_flush_after_wait() {
  if (g_wait_flush.load(std::memory_order_relaxed) < WaitFlush::Wanted) [[unlikely]]
    want_flush_after_wait_slow();
}

// CUPTI collects from now on, until the state of GPU activity changes.
void open_wait_flushes();
void close_wait_flushes();

// Helper thread: flushes if it is due. Returns when it must be called again, as Subsystem::tick does.
uint64_t tend_wait_flushes(uint64_t now_ns);

}  // namespace prof::preload
