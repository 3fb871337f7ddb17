#include "preload/lifecycle/call_scope.h"

#include "preload/log/count.h"
#include "preload/log/log_storage.h"
#include "preload/record/process_end.h"
#include "preload/record/recording_window.h"

namespace prof::preload {

void count_nested() {
  if (!inside_own_calls()) count(format::LossCounter::nested_calls, 1);
}

void count_guard_reset() {
  count(format::LossCounter::guard_resets, 1);
  if (t_local.state != nullptr && t_local.epoch == life().epoch.load(std::memory_order_relaxed))
    t_local.state->events.call_was_abandoned();
}

void count_cut_off() {
  const bool stopped = life().phase.load(std::memory_order_acquire) == Phase::Stopped;
  if (stopped && window_is(Window::Open) && g_log.is_open()) count(format::LossCounter::after_exit);
  if (stopped) await_process_end();
}

}  // namespace prof::preload
