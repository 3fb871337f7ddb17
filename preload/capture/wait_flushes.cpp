#include "preload/capture/wait_flushes.h"

#include "preload/base/clock.h"
#include "preload/base/helper_wake.h"
#include "preload/base/options.h"
#include "preload/capture/cupti/gpu_state.h"
#include "preload/capture/gpu_activity.h"
#include "preload/capture/streams/streams.h"

namespace prof::preload {

std::atomic<WaitFlush> g_wait_flush{WaitFlush::Off};

namespace {

constexpr uint64_t kPauseNs = 20'000'000;
constexpr uint64_t kNothing = ~0ull;

std::atomic<uint64_t> g_next_ns{0};  // the helper thread does not flush earlier

bool change(WaitFlush from, WaitFlush to) {
  return g_wait_flush.compare_exchange_strong(from, to, std::memory_order_acq_rel);
}

}  // namespace

void want_flush_after_wait_slow() {
  if (change(WaitFlush::Watching, WaitFlush::Wanted)) return;
  if (change(WaitFlush::Idle, WaitFlush::Wanted)) wake_helper();
}

void open_wait_flushes() {
  if (options().flush == 0) return;
  g_next_ns.store(0, std::memory_order_relaxed);
  g_wait_flush.store(WaitFlush::Idle, std::memory_order_release);
}

void close_wait_flushes() { g_wait_flush.store(WaitFlush::Off, std::memory_order_release); }

uint64_t tend_wait_flushes(uint64_t now_ns) {
  const WaitFlush state = g_wait_flush.load(std::memory_order_acquire);
  if (state == WaitFlush::Idle || state == WaitFlush::Off) return kNothing;
  if (g_gpu_activity.load(std::memory_order_acquire) != GpuActivity::On) {
    close_wait_flushes();
    return kNothing;
  }
  if (const uint64_t next = g_next_ns.load(std::memory_order_relaxed); now_ns < next) return next;
  if (change(WaitFlush::Watching, WaitFlush::Idle)) return kNothing;
  g_wait_flush.store(WaitFlush::Watching, std::memory_order_release);
  if (outstanding().unreported != 0) flush_gpu_activity();
  const uint64_t next = monotonic_ns() + kPauseNs;
  g_next_ns.store(next, std::memory_order_relaxed);
  return next;
}

}  // namespace prof::preload
