#include "preload/record/gpu_clock.h"

#include "preload/base/clock.h"
#include "preload/record/append.h"
#include "preload/record/thread_scope.h"

namespace prof::preload {

void define_gpu_clock() {
  if (!clock_is_settled()) return;
  const ThreadScope scope;
  if (!scope.recording()) return;
  format::GpuClock clock;
  clock.base_tick = g_clock.base_tick;
  clock.base_ns = g_clock.base_ns;
  clock.multiplier = g_clock.multiplier;
  clock.shift = g_clock.shift;
  define(clock);
}

}  // namespace prof::preload
