#include "preload/capture/streams/stream_table.h"

#include "preload/capture/streams/burst_counts.h"

#include "preload/base/clock.h"
#include "preload/base/helper_wake.h"
#include "preload/base/signals.h"
#include "preload/capture/streams/event_waits.h"
#include "preload/capture/streams/mark_events.h"
#include "preload/driver/gpu_devices.h"
#include "preload/log/count.h"
#include "preload/log/retired.h"
#include "preload/record/thread_local.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace prof::preload {

namespace detail {
StreamTable* g_streams = nullptr;
}  // namespace detail

namespace {

using detail::g_streams;
using detail::IndexSlot;
using detail::StreamTable;

constexpr uint64_t kEmpty = 0;
constexpr uint64_t kRemoved = 1;
constexpr uint32_t kMaxProbes = 128;

constexpr uint64_t kLongestWaitNs = 1'000'000'000;
constexpr timespec kLookAgain{0, 10'000'000};

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Guards additions and removals, which are rare. No code inside waits, allocates or calls out, and no signal handler
// runs inside: the holding thread needs a processor and nothing else. A thread that finds the gate closed sleeps until
// it opens. If it must wait a second (a debugger stopped the holder), it stops waiting and counts that.
class Gate {
 public:
  Gate() {
    for (int spins = 0; spins < 100 && !held_; ++spins) {
      uint32_t open = kOpen;
      held_ = g_streams->gate.compare_exchange_weak(open, kClosed, std::memory_order_acquire);
      if (!held_) pause();
    }
    if (!held_) held_ = wait();
  }
  ~Gate() {
    if (!held_ || g_streams->gate.exchange(kOpen, std::memory_order_release) != kAwaited) return;
    futex(g_streams->gate, FUTEX_WAKE, 1, nullptr);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  bool held() const { return held_; }

 private:
  enum : uint32_t { kOpen, kClosed, kAwaited };

  static bool wait() {
    const int saved = errno;
    const uint64_t until = monotonic_ns() + kLongestWaitNs;
    bool taken = false;
    while (!taken && monotonic_ns() < until) {
      taken = g_streams->gate.exchange(kAwaited, std::memory_order_acquire) == kOpen;
      if (!taken) futex(g_streams->gate, FUTEX_WAIT, kAwaited, &kLookAgain);
    }
    errno = saved;
    return taken;
  }

  const SignalsBlocked blocked_;
  bool held_ = false;
};

uint32_t position(uint64_t key, uint32_t probe) {
  return static_cast<uint32_t>(key + probe) & (StreamTable::kIndex - 1);
}

StreamState* find(const IndexSlot* index, uint64_t key) {
  for (uint32_t probe = 0; probe < kMaxProbes; ++probe) {
    const IndexSlot& slot = index[position(key, probe)];
    const uint64_t there = slot.key.load(std::memory_order_acquire);
    if (there == key) return &g_streams->states[slot.slot.load(std::memory_order_relaxed)];
    if (there == kEmpty) return nullptr;
  }
  return nullptr;
}

// The caller holds the gate.
bool insert(IndexSlot* index, uint64_t key, uint32_t slot) {
  for (uint32_t probe = 0; probe < kMaxProbes; ++probe) {
    IndexSlot& at = index[position(key, probe)];
    const uint64_t there = at.key.load(std::memory_order_relaxed);
    if (there != kEmpty && there != kRemoved && there != key) continue;
    at.slot.store(slot, std::memory_order_relaxed);
    at.key.store(key, std::memory_order_release);
    return true;
  }
  return false;
}

void erase(IndexSlot* index, uint64_t key, uint32_t slot) {
  for (uint32_t probe = 0; probe < kMaxProbes; ++probe) {
    IndexSlot& at = index[position(key, probe)];
    const uint64_t there = at.key.load(std::memory_order_relaxed);
    if (there == kEmpty) return;
    if (there != key || at.slot.load(std::memory_order_relaxed) != slot) continue;
    // If a chain ends here, it now ends earlier; otherwise a tombstone keeps it together.
    const bool last = index[position(key, probe + 1)].key.load(std::memory_order_relaxed) == kEmpty;
    at.key.store(last ? kEmpty : kRemoved, std::memory_order_release);
    return;
  }
}

// The caller holds the gate. kMaxStreams: no slot is free.
uint32_t free_slot() {
  const uint32_t end = g_streams->high_water.load(std::memory_order_relaxed);
  uint32_t& at = g_streams->first_free;
  while (at < end && g_streams->states[at].live.load(std::memory_order_relaxed)) ++at;
  return at;
}

// Called when a stream ends: records of its operations may still be in CUPTI's buffers.
void end_life(StreamState& state) {
  release_ring(state);
  forget_waits(state);
  const uint64_t launched = state.launched.load();
  const uint64_t reported = state.reported.load(std::memory_order_relaxed);
  if (reported < launched)
    g_streams->unreported_of_destroyed_streams.fetch_add(launched - reported, std::memory_order_relaxed);
}

void begin_life(StreamState& state, const StreamFacts& facts) {
  const uint64_t so_far = state.launched.load();
  state.launched.set_owner(t_local.state);
  state.completed.store(so_far, std::memory_order_relaxed);
  state.reported.store(so_far, std::memory_order_relaxed);
  state.marked.store(so_far, std::memory_order_relaxed);
  state.last_launch_tick.store(0, std::memory_order_relaxed);
  state.query_tick.store(0, std::memory_order_relaxed);
  state.mark_word.store(nullptr, std::memory_order_relaxed);
  state.left_out = facts.context != nullptr && !device_wanted(facts.context->device);
  state.marks_off.store(state.left_out, std::memory_order_relaxed);
  state.programmatic.store(false, std::memory_order_relaxed);
  state.per_thread = facts.per_thread;
  state.thread = facts.thread;
  state.id = facts.id;
  state.key = facts.key;
  state.gpu_key = facts.gpu_key;
  state.handle.store(facts.handle, std::memory_order_relaxed);
  state.context.store(facts.context, std::memory_order_relaxed);
}

}  // namespace

bool open_stream_table(uint64_t ended) {
  if (ended != 0) {
    retire_memory(g_streams, sizeof(StreamTable), ended);
  } else if (g_streams != nullptr) {
    munmap(g_streams, sizeof(StreamTable));  // the parent's, in a forked child
  }
  if (ended == 0) g_streams = nullptr;
  void* const memory =
      mmap(nullptr, sizeof(StreamTable), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  // Every member's initial value is zero bits: pages are allocated on use and need not be written here.
  g_streams = static_cast<StreamTable*>(memory);
  return true;
}

StreamState* find_stream(uint64_t key) { return g_streams == nullptr ? nullptr : find(g_streams->index, key); }
StreamState* find_gpu_stream(uint64_t gpu_key) {
  return g_streams == nullptr ? nullptr : find(g_streams->gpu_index, gpu_key);
}

StreamState* add_stream(const StreamFacts& facts) {
  if (g_streams == nullptr) return nullptr;
  const Gate gate;
  if (gate.held()) {
    if (StreamState* const there = find(g_streams->index, facts.key); there != nullptr) return there;
    const uint32_t slot = free_slot();
    if (slot < kMaxStreams) {
      StreamState& state = g_streams->states[slot];
      begin_life(state, facts);
      clear_burst_counts(state);
      if (insert(g_streams->index, facts.key, slot)) {
        if (facts.gpu_key != 0) insert(g_streams->gpu_index, facts.gpu_key, slot);
        if (slot == g_streams->high_water.load(std::memory_order_relaxed)) {
          g_streams->high_water.store(slot + 1, std::memory_order_release);
        }
        state.live.store(true, std::memory_order_release);
        return &state;
      }
    }
  }
  count(format::LossCounter::depth_streams_full);
  return nullptr;
}

void renew_stream(StreamState& state, const StreamFacts& facts) {
  const Gate gate;
  if (!gate.held()) return;
  const uint32_t slot = slot_of(state);
  if (state.gpu_key != 0) erase(g_streams->gpu_index, state.gpu_key, slot);
  end_life(state);
  begin_life(state, facts);
  clear_burst_counts(state);
  if (facts.gpu_key != 0) insert(g_streams->gpu_index, facts.gpu_key, slot);
}

void remove_stream(StreamState& state) {
  // Also done if the gate stays closed and the slot is kept: a new stream of the same handle starts with nothing
  // outstanding.
  const uint64_t launched = state.launched.load();
  uint64_t done = state.completed.load(std::memory_order_relaxed);
  while (done < launched && !state.completed.compare_exchange_weak(done, launched, std::memory_order_relaxed)) {}
  forget_waits(state);
  const Gate gate;
  if (!gate.held() || !state.live.load(std::memory_order_relaxed)) return;
  const uint32_t slot = slot_of(state);
  erase(g_streams->index, state.key, slot);
  if (state.gpu_key != 0) erase(g_streams->gpu_index, state.gpu_key, slot);
  end_life(state);
  state.live.store(false, std::memory_order_release);
  if (slot < g_streams->first_free) g_streams->first_free = slot;
}

ContextState* find_context(CUcontext handle) {
  if (g_streams == nullptr || handle == nullptr) return nullptr;
  const uint32_t end = g_streams->context_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < end; ++i) {
    if (g_streams->contexts[i].handle.load(std::memory_order_acquire) == handle) return &g_streams->contexts[i];
  }
  return nullptr;
}

ContextState* add_context(CUcontext handle, format::ContextId id, uint32_t device, uint32_t gpu_context) {
  if (g_streams == nullptr) return nullptr;
  const Gate gate;
  if (gate.held()) {
    if (ContextState* const there = find_context(handle); there != nullptr) return there;
    const uint32_t end = g_streams->context_count.load(std::memory_order_relaxed);
    uint32_t at = 0;
    while (at < end && g_streams->contexts[at].handle.load(std::memory_order_relaxed) != nullptr) ++at;
    if (at < kMaxContexts) {
      ContextState& state = g_streams->contexts[at];
      state.id = id;
      state.device = device;
      state.gpu_context = gpu_context;
      state.failed.store(false, std::memory_order_relaxed);
      state.mark_way.store(MarkWay::Undecided, std::memory_order_relaxed);
      state.handle.store(handle, std::memory_order_release);
      if (at == end) g_streams->context_count.store(end + 1, std::memory_order_release);
      return &state;
    }
  }
  count(format::LossCounter::depth_streams_full);
  return nullptr;
}

}  // namespace prof::preload
