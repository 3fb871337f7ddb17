#include "preload/capture/streams/burst_counts.h"

#include "preload/capture/streams/stream_table.h"

#include <algorithm>
#include <atomic>

namespace prof::preload {
namespace {

// An atomic minimum of correlation ids, which wrap around.
class LowestId {
 public:
  void clear() { word_.store(0, std::memory_order_relaxed); }
  void lower(uint32_t id) {
    uint64_t there = word_.load(std::memory_order_relaxed);
    while ((there == 0 || is_before(id, static_cast<uint32_t>(there))) &&
           !word_.compare_exchange_weak(there, kKnown | id, std::memory_order_relaxed)) {}
  }
  bool known() const { return word_.load(std::memory_order_relaxed) != 0; }
  bool is_after(uint32_t id) const {  // known, and `id` is smaller
    const uint64_t there = word_.load(std::memory_order_relaxed);
    return there != 0 && is_before(id, static_cast<uint32_t>(there));
  }

 private:
  static constexpr uint64_t kKnown = uint64_t{1} << 32;
  static bool is_before(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) < 0; }
  std::atomic<uint64_t> word_{0};
};

constexpr uint64_t kOpenBurst = UINT64_MAX;

struct Burst {
  std::atomic<uint64_t> begin_ns{kOpenBurst}, end_ns{kOpenBurst};
  LowestId first, past;  // ids of calls that started in it, and after it
  std::atomic<uint64_t> held{0}, reported{0};

  uint64_t missing() const {
    const uint64_t launched = held.load(std::memory_order_relaxed), told = reported.load(std::memory_order_relaxed);
    return told < launched ? launched - told : 0;
  }
};

constexpr uint32_t kKept = 16;  // bursts whose records may still arrive
Burst g_bursts[kKept];
std::atomic<uint32_t> g_begun{0};
std::atomic<uint64_t> g_missed_before{0};  // of older bursts
std::atomic<uint64_t> g_begin_tick{kOpenBurst}, g_end_tick{kOpenBurst};

struct OnStream {
  std::atomic<uint64_t> held, partly, reported;  // of the burst that runs or is being drained
};
OnStream g_on_stream[kMaxStreams];

// Of the current burst, on streams that exist.
uint64_t missing_on_streams() {
  uint64_t missing = 0;
  for_each_stream([&](const StreamState& state) {
    const OnStream& counts = g_on_stream[slot_of(state)];
    const uint64_t held = counts.held.load(std::memory_order_relaxed);
    const uint64_t reported = counts.reported.load(std::memory_order_relaxed);
    if (held > reported) missing += held - reported;
  });
  return missing;
}

Burst& current() { return g_bursts[(g_begun.load(std::memory_order_acquire) + kKept - 1) % kKept]; }

}  // namespace

void begin_burst_counts(uint64_t tick, uint64_t gpu_ns) {
  const uint32_t begun = g_begun.load(std::memory_order_relaxed);
  Burst& burst = g_bursts[begun % kKept];
  if (begun >= kKept) g_missed_before.fetch_add(burst.missing(), std::memory_order_relaxed);
  burst.first.clear();
  burst.past.clear();
  burst.held.store(0, std::memory_order_relaxed);
  burst.reported.store(0, std::memory_order_relaxed);
  burst.end_ns.store(kOpenBurst, std::memory_order_relaxed);
  burst.begin_ns.store(gpu_ns, std::memory_order_relaxed);
  if (detail::g_streams != nullptr) {
    const uint32_t end = detail::g_streams->high_water.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < end; ++i) {
      for (std::atomic<uint64_t>* const count :
           {&g_on_stream[i].held, &g_on_stream[i].partly, &g_on_stream[i].reported})
        count->store(0, std::memory_order_relaxed);
    }
  }
  g_begun.store(begun + 1, std::memory_order_release);
  g_end_tick.store(kOpenBurst, std::memory_order_relaxed);
  g_begin_tick.store(tick, std::memory_order_release);
}

void clear_burst_counts(const StreamState& stream) {
  OnStream& counts = g_on_stream[slot_of(stream)];
  for (std::atomic<uint64_t>* const count : {&counts.held, &counts.partly, &counts.reported})
    count->store(0, std::memory_order_relaxed);
}

void end_burst_counts(uint64_t tick, uint64_t gpu_ns) {
  current().end_ns.store(gpu_ns, std::memory_order_relaxed);
  g_end_tick.store(tick, std::memory_order_release);
}

void reset_burst_counts() {
  g_begin_tick.store(kOpenBurst, std::memory_order_relaxed);
  g_begun.store(0, std::memory_order_relaxed);
  g_missed_before.store(0, std::memory_order_relaxed);
  for (Burst& burst : g_bursts) {
    burst.first.clear();
    burst.past.clear();
    for (std::atomic<uint64_t>* const count : {&burst.held, &burst.reported})
      count->store(0, std::memory_order_relaxed);
  }
}

bool count_in_burst(const StreamState* stream, uint64_t begin_tick, uint64_t end_tick, uint64_t operations,
                    bool collecting) {
  const uint64_t begin = g_begin_tick.load(std::memory_order_acquire);
  const bool held = collecting && begin_tick >= begin;
  const bool partly = !held && end_tick >= begin && begin_tick < g_end_tick.load(std::memory_order_acquire);
  if (held) current().held.fetch_add(operations, std::memory_order_relaxed);
  if (stream != nullptr && (held || partly)) {
    OnStream& counts = g_on_stream[slot_of(*stream)];
    (held ? counts.held : counts.partly).fetch_add(operations, std::memory_order_relaxed);
  }
  return held;
}

void burst_call(uint64_t start_ns, uint32_t correlation) {
  const uint32_t begun = g_begun.load(std::memory_order_acquire);
  for (uint32_t back = 1; back <= begun && back <= kKept; ++back) {
    Burst& burst = g_bursts[(begun - back) % kKept];
    if (start_ns < burst.begin_ns.load(std::memory_order_relaxed)) continue;
    (start_ns < burst.end_ns.load(std::memory_order_relaxed) ? burst.first : burst.past).lower(correlation);
    return;
  }
}

bool burst_operation(uint32_t correlation) {
  const uint32_t begun = g_begun.load(std::memory_order_acquire);
  for (uint32_t back = 1; back <= begun && back <= kKept; ++back) {
    Burst& burst = g_bursts[(begun - back) % kKept];
    if (!burst.first.known() || burst.first.is_after(correlation)) continue;
    if (burst.past.known() && !burst.past.is_after(correlation)) return false;
    burst.reported.fetch_add(1, std::memory_order_relaxed);
    return back == 1;
  }
  return false;
}

void burst_reported(uint32_t gpu_context, uint32_t gpu_stream, uint64_t operations) {
  const StreamState* const state = find_gpu_stream(gpu_stream_key(gpu_context, gpu_stream));
  if (state != nullptr) g_on_stream[slot_of(*state)].reported.fetch_add(operations, std::memory_order_relaxed);
}

bool burst_is_reported(const StreamState& stream) {
  const OnStream& counts = g_on_stream[slot_of(stream)];
  return counts.reported.load(std::memory_order_relaxed) >=
         counts.held.load(std::memory_order_relaxed) + counts.partly.load(std::memory_order_relaxed);
}

uint64_t bursts_unreported() {
  uint64_t missing = g_missed_before.load(std::memory_order_relaxed);
  for (const Burst& burst : g_bursts) {
    // Records of other launches, at the edges of the burst, may come before those of a slower stream.
    missing += &burst == &current() ? std::max(burst.missing(), missing_on_streams()) : burst.missing();
  }
  return missing;
}

}  // namespace prof::preload
