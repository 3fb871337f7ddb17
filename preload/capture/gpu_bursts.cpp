#include "preload/capture/gpu_bursts.h"

#include "preload/base/clock.h"
#include "preload/capture/cupti/cupti_front.h"
#include "preload/capture/cupti/cupti_kinds.h"
#include "preload/capture/cupti/gpu_state.h"
#include "preload/capture/gpu_activity.h"
#include "preload/capture/gpu_flushes.h"
#include "preload/capture/streams/burst_counts.h"
#include "preload/capture/streams/streams.h"
#include "preload/record/texts.h"
#include "preload/record/thread_local.h"
#include "preload/record/thread_scope.h"

#include <atomic>

namespace prof::preload {

namespace {

std::atomic<bool> g_drain_noted{false};
std::atomic<bool> g_bursts_described{false};

}  // namespace

void expect_gpu_bursts() { g_in_bursts.store(true, std::memory_order_relaxed); }

void reset_gpu_bursts() {
  g_in_bursts.store(false, std::memory_order_relaxed);
  for (std::atomic<bool>* const flag : {&g_bursts_described, &g_gpu_burst_drains, &g_drain_noted})
    flag->store(false, std::memory_order_relaxed);
  reset_burst_counts();
}

uint64_t awaited_gpu_records(uint64_t unreported) { return gpu_in_bursts() ? bursts_unreported() : unreported; }

bool gpu_burst_drains() { return g_gpu_burst_drains.load(std::memory_order_relaxed); }

// Launches go on and have records, but no burst holds them.
void gpu_burst_ends_with_recording() {
  g_gpu_burst_drains.store(true, std::memory_order_relaxed);
  const uint64_t tick = now_ticks();
  end_burst_counts(tick, gpu_clock_ns());
}

bool gpu_bursts_possible() {
  const GpuActivity state = g_gpu_activity.load(std::memory_order_acquire);
  return state == GpuActivity::Resting || state == GpuActivity::Burst;
}

// Calls are enabled first and disabled last, so that every kernel record has the record that names its launch.
bool begin_gpu_burst() {
  if (g_gpu_activity.load(std::memory_order_acquire) != GpuActivity::Resting) return false;
  const ThreadScope scope;
  const OwnCalls own;
  const char* const calls = enable_cupti_calls();
  const char* const graphs = enable_cupti_graphs();
  if (const std::string_view reason = enable_cupti_kinds(); !reason.empty()) {
    refuse_gpu_activity(reason);
    return false;
  }
  const uint64_t gpu_ns =
      gpu_clock_ns();  // no later than the tick: a call that a launch takes as held has a later start
  begin_burst_counts(now_ticks(), gpu_ns);
  GpuActivity resting = GpuActivity::Resting;
  if (!g_gpu_activity.compare_exchange_strong(resting, GpuActivity::Burst, std::memory_order_acq_rel)) {
    disable_cupti_kinds();
    return false;
  }
  if (!g_bursts_described.exchange(true) && scope.recording()) {
    define_meta("gpu_correlation", calls);
    define_meta("graphs", graphs);
  }
  return true;
}

// A launch counts itself before it calls this. After some time, every launch that the burst holds has been counted.
bool gpu_burst_holds(const StreamState* stream, uint64_t begin_tick, uint64_t end_tick, uint64_t operations) {
  const bool collecting = g_gpu_activity.load(std::memory_order_acquire) == GpuActivity::Burst;
  if (!collecting && !gpu_burst_drains()) return false;
  return count_in_burst(stream, begin_tick, end_tick, operations, collecting);
}

void end_gpu_burst() {
  g_drain_noted.store(false, std::memory_order_relaxed);
  g_gpu_burst_drains.store(true, std::memory_order_relaxed);
  GpuActivity burst = GpuActivity::Burst;
  const uint64_t tick = now_ticks();
  end_burst_counts(tick, gpu_clock_ns());  // the clock is no earlier than the tick
  if (!g_gpu_activity.compare_exchange_strong(burst, GpuActivity::Resting, std::memory_order_acq_rel)) {
    g_gpu_burst_drains.store(false, std::memory_order_relaxed);
  }
}

// The burst is drained when all of its operations are known to have finished. While a stream is used, completion marks
// show that. Of an unused stream the records of the burst's own operations show it.
bool gpu_burst_drained(BurstDrain how) {
  if (!g_gpu_burst_drains.load(std::memory_order_relaxed)) return true;
  const OwnCalls own;
  if (!g_drain_noted.exchange(true, std::memory_order_relaxed)) note_launched();
  g_cupti.api.cuptiActivityFlushAll(0);
  if (how != BurstDrain::Late && !noted_finished_or(how != BurstDrain::Early ? burst_is_reported : nullptr))
    return false;
  g_gpu_burst_drains.store(false, std::memory_order_relaxed);
  if (g_gpu_activity.load(std::memory_order_acquire) == GpuActivity::Resting) pause_cupti_kinds();
  g_cupti.api.cuptiActivityFlushAll(0);
  count_cupti_dropped();
  store_gpu_pending();
  return true;
}

}  // namespace prof::preload
