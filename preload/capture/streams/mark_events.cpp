#include "preload/capture/streams/mark_events.h"

#include "preload/capture/streams/depth_marks.h"
#include "preload/capture/streams/event_waits.h"
#include "preload/driver/driver.h"

#include <sys/mman.h>

#include <new>

namespace prof::preload {

// The queue of a stream takes 1,024 operations before a launch waits. The ring has enough events for all of them.
struct MarkRing {
  static constexpr uint32_t kEvents = 1024 / kMarkEvery;
  std::atomic<ContextState*> context{nullptr};  // the owner of the events; null: never used
  std::atomic<CUcontext> handle{nullptr};       // the context's handle when the events were made
  std::atomic<uint32_t> taken{0};               // by a stream
  std::atomic<uint32_t> busy{0};                // by a thread that moves it; another continues without a mark
  uint32_t head = 0, tail = 0;                  // counts; [tail, head) are recorded
  uint64_t number[kEvents] = {};
  CUevent event[kEvents] = {};
};

namespace {

constexpr uint32_t kRings = 512;
constexpr uint32_t kQueriesAtOnce = 4;  // catches up four times as fast as marks are made

std::atomic<MarkRing*> g_rings{nullptr};

MarkRing* rings() {
  MarkRing* there = g_rings.load(std::memory_order_acquire);
  if (there != nullptr) return there;
  constexpr size_t kBytes = kRings * sizeof(MarkRing);
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const made = static_cast<MarkRing*>(memory);  // zero pages are rings never used
  if (g_rings.compare_exchange_strong(there, made, std::memory_order_acq_rel)) return made;
  munmap(memory, kBytes);
  return there;
}

// A free ring of this context, else one never used, else one whose context was destroyed (and with it its events).
MarkRing* take_ring(ContextState* context) {
  MarkRing* const all = rings();
  if (all == nullptr) return nullptr;
  const CUcontext handle = context->handle.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < kRings; ++i) {
    MarkRing& ring = all[i];
    uint32_t unused = 0;
    if (!ring.taken.compare_exchange_strong(unused, 1, std::memory_order_acq_rel)) continue;
    ContextState* const owner = ring.context.load(std::memory_order_relaxed);
    const bool same = owner == context && ring.handle.load(std::memory_order_relaxed) == handle;
    const bool gone = owner != nullptr &&
                      owner->handle.load(std::memory_order_relaxed) != ring.handle.load(std::memory_order_relaxed);
    // Busy: a thread is still inside a launch on the stream that had it.
    if ((!same && owner != nullptr && !gone) || ring.busy.load(std::memory_order_acquire) != 0) {
      ring.taken.store(0, std::memory_order_release);
      continue;
    }
    if (!same) {
      for (CUevent& event : ring.event) event = nullptr;
      ring.context.store(context, std::memory_order_relaxed);
      ring.handle.store(handle, std::memory_order_relaxed);
    }
    ring.head = ring.tail = 0;
    return &ring;
  }
  return nullptr;
}

// Notes at most so many events that have finished. False: the driver refused.
bool note_finished(MarkRing& ring, StreamState& state, uint32_t most) {
  for (uint32_t i = 0; i < most && ring.tail != ring.head; ++i) {
    const uint32_t oldest = ring.tail % MarkRing::kEvents;
    const CUresult result = g_driver.cuEventQuery(ring.event[oldest]);
    if (result == CUDA_ERROR_NOT_READY) break;
    if (result != CUDA_SUCCESS) return false;
    complete_upto(state, {ring.number[oldest], 0});
    ++ring.tail;
  }
  return true;
}

bool move(MarkRing& ring, StreamState& state, uint64_t number) {
  if (!note_finished(ring, state, kQueriesAtOnce)) return false;
  if (ring.head - ring.tail == MarkRing::kEvents) return true;  // all outstanding: the depth stays an upper bound
  const uint32_t next = ring.head % MarkRing::kEvents;
  if (ring.event[next] == nullptr &&
      g_driver.cuEventCreate(&ring.event[next], CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
    return false;
  }
  if (g_driver.cuEventRecord(ring.event[next], state.handle) != CUDA_SUCCESS) return false;
  ring.number[next] = number;
  ++ring.head;
  return true;
}

}  // namespace

bool move_events(StreamState& state, uint64_t number) {
  MarkRing* ring = state.mark_ring.load(std::memory_order_acquire);
  if (ring == nullptr) {
    ring = take_ring(state.context.load(std::memory_order_relaxed));
    if (ring == nullptr) return false;
    MarkRing* none = nullptr;
    if (!state.mark_ring.compare_exchange_strong(none, ring, std::memory_order_acq_rel)) {
      ring->taken.store(0, std::memory_order_release);
      ring = none;
    }
  }
  uint32_t idle = 0;
  if (!ring->busy.compare_exchange_strong(idle, 1, std::memory_order_acquire)) return true;
  const bool ok = state.mark_ring.load(std::memory_order_relaxed) == ring && move(*ring, state, number);
  ring->busy.store(0, std::memory_order_release);
  return ok;
}

bool query_events(StreamState& state) {
  MarkRing* const ring = state.mark_ring.load(std::memory_order_acquire);
  uint32_t idle = 0;
  if (ring == nullptr || !ring->busy.compare_exchange_strong(idle, 1, std::memory_order_acquire)) return false;
  // If the context is being destroyed, its handle was removed, and its events are not touched.
  const ContextState* const owner = ring->context.load(std::memory_order_relaxed);
  const CUcontext context = ring->handle.load(std::memory_order_relaxed);
  bool finished = false;
  if (owner != nullptr && state.mark_ring.load(std::memory_order_relaxed) == ring &&
      owner->handle.load(std::memory_order_seq_cst) == context && g_driver.cuCtxPushCurrent_v2 != nullptr &&
      g_driver.cuCtxPopCurrent_v2 != nullptr && g_driver.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS) {
    finished = note_finished(*ring, state, MarkRing::kEvents) && ring->head != 0 && ring->tail == ring->head;
    CUcontext popped = nullptr;
    g_driver.cuCtxPopCurrent_v2(&popped);
  }
  ring->busy.store(0, std::memory_order_release);
  return finished;
}

void release_ring(StreamState& state) {
  MarkRing* const ring = state.mark_ring.exchange(nullptr, std::memory_order_acq_rel);
  if (ring != nullptr) ring->taken.store(0, std::memory_order_release);
}

void drop_mark_events() {
  MarkRing* const all = g_rings.load(std::memory_order_acquire);
  if (all == nullptr || g_driver.cuEventDestroy_v2 == nullptr) return;
  for (uint32_t i = 0; i < kRings; ++i) {
    MarkRing& ring = all[i];
    ContextState* const owner = ring.context.load(std::memory_order_relaxed);
    uint32_t idle = 0;
    if (owner == nullptr || !ring.busy.compare_exchange_strong(idle, 1, std::memory_order_acquire)) continue;
    // If the context was destroyed, its events were destroyed with it.
    const bool alive = owner->handle.load(std::memory_order_relaxed) == ring.handle.load(std::memory_order_relaxed);
    for (CUevent& event : ring.event) {
      if (event != nullptr && alive) g_driver.cuEventDestroy_v2(event);
      event = nullptr;
    }
    ring.head = ring.tail = 0;
    ring.context.store(nullptr, std::memory_order_relaxed);
    ring.busy.store(0, std::memory_order_release);
    ring.taken.store(0, std::memory_order_release);
  }
}

}  // namespace prof::preload
