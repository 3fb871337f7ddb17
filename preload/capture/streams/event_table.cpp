#include "preload/capture/streams/event_table.h"

#include "preload/capture/streams/stream_table.h"
#include "preload/log/retired.h"
#include "preload/record/intern.h"

#include <sys/mman.h>

namespace prof::preload {

namespace {

// One word contains the whole recording, so a reader never sees half of one: stream slot << 48 | launch number.
struct EventSlot {
  std::atomic<uint64_t> event;
  std::atomic<uint64_t> standing;
};
constexpr uint32_t kEvents = 1u << 14;
constexpr uint32_t kMaxEventProbes = 32;
constexpr uint32_t kNumberBits = 48;
constexpr uint64_t kRemovedEvent = 1;
static_assert(kMaxStreams <= 1u << (64 - kNumberBits));

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

void remember_event(CUevent event, uint32_t stream_slot, uint64_t launched) {
  if (g_events == nullptr || event == nullptr) return;
  const uint64_t standing =
      static_cast<uint64_t>(stream_slot) << kNumberBits | (launched & ((1ull << kNumberBits) - 1));
  if (EventSlot* const slot = find(event); slot != nullptr) {
    slot->standing.store(standing, std::memory_order_release);
    return;
  }
  for (uint32_t probe = 0; probe < kMaxEventProbes; ++probe) {
    EventSlot& slot = at(event, probe);
    uint64_t there = slot.event.load(std::memory_order_relaxed);
    if (there > kRemovedEvent) continue;
    // The event has no launch number until `standing` is stored.
    if (!slot.event.compare_exchange_strong(there, reinterpret_cast<uint64_t>(event), std::memory_order_acq_rel))
      continue;
    slot.standing.store(standing, std::memory_order_release);
    return;
  }
}

bool find_event(CUevent event, uint32_t& stream_slot, uint64_t& launched) {
  const EventSlot* const slot = find(event);
  if (slot == nullptr) return false;
  const uint64_t standing = slot->standing.load(std::memory_order_acquire);
  stream_slot = static_cast<uint32_t>(standing >> kNumberBits);
  launched = standing & ((1ull << kNumberBits) - 1);
  return launched != 0;
}

void erase_event(CUevent event) {
  EventSlot* const slot = find(event);
  if (slot == nullptr) return;
  slot->standing.store(0, std::memory_order_relaxed);
  slot->event.store(kRemovedEvent, std::memory_order_release);
}

}  // namespace prof::preload
