#include "preload/record/thread_scope.h"

#include "preload/base/own_library.h"
#include "preload/log/count.h"
#include "preload/log/log_storage.h"
#include "preload/record/recording_window.h"
#include "preload/record/thread.h"

namespace prof::preload {

bool enter_recording() {
  if (life().epoch.load(std::memory_order_acquire) != 0) return open_thread();
  if (!window_is(Window::Open) || inert()) return false;
  return enter_phase(life().phase.load(std::memory_order_acquire));
}

bool enter_phase(Phase phase) {
  if (phase == Phase::Starting) {
    if (!inside_own_calls()) count_before_ready();
    return false;
  }
  // The start ended after the epoch was read and before the phase was read. This thread records from this call on.
  if (phase == Phase::Recording && life().epoch.load(std::memory_order_acquire) != 0) return open_thread();
  if (phase != Phase::Cold && g_log.is_open()) count(format::LossCounter::after_exit);
  return false;
}

}  // namespace prof::preload
