#include "preload/capture/streams/event_table.h"

#include "preload/capture/streams/stream_table.h"
#include "preload/log/retired.h"
#include "preload/record/intern.h"

#include <sys/mman.h>

namespace prof::preload {

namespace {

// `standing` is (stream slot + 1) << 47 | launch number; 0: not known. A thread that records an event stores 0 before
// the driver's call, and `waits` and `standing` after it. So readers take the waits that belong to `standing`, or
// newer ones of a recording that the driver has made.
struct EventSlot {
  std::atomic<uint64_t> event;
  std::atomic<uint64_t> standing;
  std::atomic<uint64_t> waits;
};
constexpr uint32_t kEvents = 1u << 14;
constexpr uint32_t kMaxEventProbes = 32;
constexpr uint32_t kNumberBits = 47;
constexpr uint64_t kNumberMask = (1ull << kNumberBits) - 1;
constexpr uint64_t kRemovedEvent = 1;
constexpr uint64_t kShared = ~0ull;  // of no slot
static_assert(kMaxStreams < (1u << (64 - kNumberBits)) - 1);

EventSlot* g_events = nullptr;

EventSlot& at(CUevent event, uint32_t probe) {
  const uint64_t hash = Hash::fold(reinterpret_cast<uint64_t>(event) ^ 0xa0761d6478bd642f, 0x8ebc6af09c88c6e3);
  return g_events[(hash + probe) & (kEvents - 1)];
}

EventSlot* find(CUevent event) {
  if (g_events == nullptr || event == nullptr) return nullptr;
  for (uint32_t probe = 0; probe < kMaxEventProbes; ++probe) {
    EventSlot& slot = at(event, probe);
    const uint64_t there = slot.event.load(std::memory_order_acquire);
    if (there == reinterpret_cast<uint64_t>(event)) return &slot;
    if (there == 0) return nullptr;
  }
  return nullptr;
}

}  // namespace

bool open_event_table(uint64_t ended) {
  constexpr size_t kBytes = kEvents * sizeof(EventSlot);
  if (ended != 0) {
    retire_memory(g_events, kBytes, ended);
  } else if (g_events != nullptr) {
    munmap(g_events, kBytes);  // the parent's, in a forked child
  }
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  g_events = memory == MAP_FAILED ? nullptr : static_cast<EventSlot*>(memory);
  return g_events != nullptr;
}

namespace {

// The event's slot, or one that becomes its. Null: none is free.
EventSlot* find_or_add(CUevent event) {
  if (g_events == nullptr || event == nullptr) return nullptr;
  if (EventSlot* const slot = find(event); slot != nullptr) return slot;
  for (uint32_t probe = 0; probe < kMaxEventProbes; ++probe) {
    EventSlot& slot = at(event, probe);
    uint64_t there = slot.event.load(std::memory_order_relaxed);
    if (there > kRemovedEvent) continue;
    // The event is not known until `standing` is stored.
    if (slot.event.compare_exchange_strong(there, reinterpret_cast<uint64_t>(event), std::memory_order_acq_rel))
      return &slot;
  }
  return nullptr;
}

}  // namespace

void remember_event(CUevent event, const EventPoint& point) {
  EventSlot* const slot = find_or_add(event);
  if (slot == nullptr || slot->standing.load(std::memory_order_relaxed) == kShared) return;
  slot->waits.store(point.upto.waits, std::memory_order_release);
  slot->standing.store((point.slot + 1ull) << kNumberBits | (point.upto.launched & kNumberMask),
                       std::memory_order_release);
}

EventPoint find_event(CUevent event) {
  const EventSlot* const slot = find(event);
  if (slot == nullptr) return {};
  const uint64_t standing = slot->standing.load(std::memory_order_acquire);
  const uint64_t waits = slot->waits.load(std::memory_order_acquire);
  if (standing == 0 || standing == kShared || slot->standing.load(std::memory_order_relaxed) != standing) return {};
  return {static_cast<uint32_t>(standing >> kNumberBits) - 1, {standing & kNumberMask, waits}};
}

void forget_event(CUevent event) {
  EventSlot* const slot = find(event);
  if (slot == nullptr) return;
  uint64_t standing = slot->standing.load(std::memory_order_relaxed);
  if (standing != kShared) slot->standing.compare_exchange_strong(standing, 0, std::memory_order_release);
}

void share_event(CUevent event) {
  if (EventSlot* const slot = find_or_add(event); slot != nullptr)
    slot->standing.store(kShared, std::memory_order_release);
}

void erase_event(CUevent event) {
  EventSlot* const slot = find(event);
  if (slot == nullptr) return;
  slot->standing.store(0, std::memory_order_relaxed);
  slot->event.store(kRemovedEvent, std::memory_order_release);
}

}  // namespace prof::preload
