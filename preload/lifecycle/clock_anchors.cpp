#include "preload/lifecycle/clock_anchors.h"

#include "preload/base/messages.h"
#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/record/thread.h"
#include "preload/record/thread_scope.h"

#include <atomic>

namespace prof::preload {

namespace {

// The helper thread and the thread that finishes the recording may come here together. Whoever is second compares
// nothing.
std::atomic<bool> g_comparing{false};
bool g_has_last = false;
ClockReading g_last{};

void compare_with_last(const ClockReading& now) {
  if (g_comparing.exchange(true, std::memory_order_acquire)) return;
  const ClockSteps steps = g_has_last ? clock_steps(g_last, now) : ClockSteps{};
  g_last = now;
  g_has_last = true;
  g_comparing.store(false, std::memory_order_release);
  if (steps.log) {
    count(format::LossCounter::clock_steps);
    static std::atomic<bool> said{false};
    say(said, "the clock of the log stepped back; times before and after it cannot be compared");
  }
  if (steps.realtime) count(format::LossCounter::realtime_steps);
}

}  // namespace

ClockReading write_clock_anchor() {
  const ClockReading now = read_clocks();
  if (thread_records()) emit(format::ClockAnchor{now.tick, now.monotonic_ns, now.realtime_ns});
  compare_with_last(now);
  return now;
}

void forget_clock_anchors() {
  g_comparing.store(false, std::memory_order_relaxed);
  g_has_last = false;
}

}  // namespace prof::preload
