#include "preload/capture/gpu_flushes.h"

#include "preload/base/clock.h"
#include "preload/base/decimal.h"
#include "preload/base/messages.h"
#include "preload/capture/cupti/bounded_flush.h"
#include "preload/capture/cupti/cupti_front.h"
#include "preload/capture/cupti/cupti_kinds.h"
#include "preload/capture/cupti/gpu_state.h"
#include "preload/capture/gpu_activity.h"
#include "preload/capture/gpu_bursts.h"
#include "preload/capture/streams/streams.h"
#include "preload/log/count.h"
#include "preload/log/log_storage.h"

#include <algorithm>
#include <atomic>

namespace prof::preload {

namespace {

// Where the last flush spent its time.
std::atomic<uint64_t> g_inside_cupti_ns{0}, g_looking_ns{0};

void flush(uint32_t flag) {
  const uint64_t begin = monotonic_ns();
  g_cupti.api.cuptiActivityFlushAll(flag);
  g_inside_cupti_ns.fetch_add(monotonic_ns() - begin, std::memory_order_relaxed);
}

// Waits for buffers that CUPTI still completes, as long as they keep coming. It does not wait for all records: some
// operations never get one (a copy from host to host), and CUPTI may keep an empty buffer for ever.
template <class Flush> void await_late_buffers(uint64_t stop_ns, Flush flush_again) {
  constexpr uint64_t kPatienceNs = 300'000'000;
  uint64_t missing = awaited_gpu_records(outstanding_of_noted().unreported);
  uint64_t give_up_ns = monotonic_ns() + kPatienceNs;
  while (missing != 0 && !g_cupti_buffers.all_free() && monotonic_ns() < std::min(stop_ns, give_up_ns)) {
    sleep_ns(2'000'000);
    flush_again();
    const uint64_t now_missing = awaited_gpu_records(outstanding_of_noted().unreported);
    if (now_missing != missing) give_up_ns = monotonic_ns() + kPatienceNs;
    missing = now_missing;
  }
}

// Collects until the GPU has finished what the program launched, as far as that is known.
void collect_until_finished(uint64_t stop_ns) {
  const uint64_t begin = monotonic_ns();
  flush(0);
  const auto awaits_any = [] {
    const Outstanding left = outstanding_of_noted();
    return left.unfinished != 0 && (!gpu_in_bursts() || awaited_gpu_records(left.unreported) != 0);
  };
  // By time, not by rounds: a flush takes long if a context failed.
  uint64_t next_look = begin + 20'000'000;
  for (uint64_t now = monotonic_ns(); awaits_any() && now < stop_ns; now = monotonic_ns()) {
    if (now >= next_look) {
      look_for_failed_contexts();
      g_looking_ns.fetch_add(monotonic_ns() - now, std::memory_order_relaxed);
      next_look = now + (now - begin);
      continue;
    }
    sleep_ns(2'000'000);
    flush(0);
  }
}

}  // namespace

void last_flush(uint64_t stop_ns) {
  collect_until_finished(stop_ns);
  flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  await_late_buffers(stop_ns, [] {});
  count_cupti_dropped();
  store_gpu_pending();
}

void flush_of_part(uint64_t stop_ns) {
  collect_until_finished(stop_ns);
  // If the state differs, the flush took so long that another recording has started.
  if (g_gpu_activity.load(std::memory_order_acquire) == GpuActivity::Finished) disable_cupti_kinds();
  flush(0);
  await_late_buffers(stop_ns, [] { flush(0); });
  count_cupti_dropped();
  store_gpu_pending();
}

void flush_within(void (*work)(uint64_t), uint64_t wait_ns) {
  static std::atomic<bool> said{false};
  g_inside_cupti_ns.store(0, std::memory_order_relaxed);
  g_looking_ns.store(0, std::memory_order_relaxed);
  const bool done = run_bounded(work, wait_ns) == FlushOutcome::Done;
  explain("the last flush: us inside CUPTI ", Decimal(g_inside_cupti_ns.load() / 1000).text(),
          ", us looking for failed contexts ", Decimal(g_looking_ns.load() / 1000).text());
  if (done) {
    explain("GPU records collected, outstanding ", Decimal(outstanding().unreported).text());
    return;
  }
  count(format::LossCounter::cupti_flush_timeouts);
  store_gpu_pending();
  say(said, "CUPTI did not return from its last flush in time: GPU times of the last moments may be missing");
}

void store_gpu_pending() {
  format::CounterPage* const page = g_log.counters();
  if (page == nullptr) return;
  std::atomic_ref(page->gpu_pending).store(awaited_gpu_records(outstanding().unreported), std::memory_order_relaxed);
}

}  // namespace prof::preload
