#include "preload/record/thread_scope.h"

#include "preload/base/clock.h"
#include "preload/base/helper_wake.h"
#include "preload/base/own_library.h"
#include "preload/log/count.h"
#include "preload/log/log_storage.h"
#include "preload/record/process_end.h"
#include "preload/record/recording_window.h"
#include "preload/record/thread.h"

#include <linux/futex.h>

#include <climits>
#include <ctime>

namespace prof::preload {

namespace {

std::atomic<uint32_t> g_starts_ended{0};  // futex word

// Whether the recorder still starts after a wait. A thread that loses calls already does not wait again.
bool starts_still() {
  constexpr uint64_t kLongestWaitNs = 2'000'000;
  const auto starts = [] {
    return life().epoch.load(std::memory_order_acquire) == 0 &&
           life().phase.load(std::memory_order_acquire) == Phase::Starting;
  };
  if (t_before_ready.calls != 0 || inside_our_calls()) return starts();
  const uint64_t until = monotonic_ns() + kLongestWaitNs;
  for (;;) {
    const uint32_t seen = g_starts_ended.load(std::memory_order_acquire);
    if (!starts()) return false;
    const uint64_t now = monotonic_ns();
    if (now >= until) return true;
    const timespec pause{0, static_cast<long>(until - now)};
    futex(g_starts_ended, FUTEX_WAIT, seen, &pause);
  }
}

}  // namespace

void wake_waiting_for_start() {
  g_starts_ended.fetch_add(1, std::memory_order_release);
  futex(g_starts_ended, FUTEX_WAKE, static_cast<uint32_t>(INT_MAX), nullptr);
}

bool enter_recording() {
  if (life().epoch.load(std::memory_order_acquire) != 0) return open_thread();
  if (!window_is(Window::Open) || inert()) return false;
  return enter_phase(life().phase.load(std::memory_order_acquire));
}

bool enter_phase(Phase phase) {
  if (phase == Phase::Starting) {
    if (inside_own_calls()) return false;
    if (starts_still()) {
      count_before_ready();
      return false;
    }
    phase = life().phase.load(std::memory_order_acquire);
    if (life().epoch.load(std::memory_order_acquire) != 0) return open_thread();
  }
  // The start ended after the epoch was read and before the phase was read. This thread records from this call on.
  if (phase == Phase::Recording && life().epoch.load(std::memory_order_acquire) != 0) return open_thread();
  if (phase != Phase::Cold && g_log.is_open()) count(format::LossCounter::after_exit);
  if (phase == Phase::Stopped) await_process_end();
  return false;
}

}  // namespace prof::preload
