#include "preload/capture/streams/event_waits.h"

#include <cstring>

namespace prof::preload {

namespace {

constexpr uint32_t kMostLinks = 16;  // of a chain of streams that wait for each other, at once

// Null: a state of the table of an earlier recording.
StreamWaits* waits_of(const StreamState& state) {
  if (detail::g_streams == nullptr) return nullptr;
  const uint32_t slot = slot_of(state);
  return slot < kMaxStreams ? &detail::g_streams->waits[slot] : nullptr;
}

// The right to change the waits of a stream, if no other thread has it.
class WaitsClaim {
 public:
  explicit WaitsClaim(StreamWaits& waits) : waits_(waits) {
    uint32_t idle = 0;
    held_ = waits.busy.compare_exchange_strong(idle, 1, std::memory_order_acquire);
  }
  ~WaitsClaim() {
    if (held_) waits_.busy.store(0, std::memory_order_release);
  }
  WaitsClaim(const WaitsClaim&) = delete;
  WaitsClaim& operator=(const WaitsClaim&) = delete;
  bool held() const { return held_; }

 private:
  StreamWaits& waits_;
  bool held_ = false;
};

// The caller has the claim.
void drop_wait(StreamWaits& waits, uint32_t at) {
  const uint32_t count = waits.count.load(std::memory_order_relaxed) - 1;
  std::memmove(&waits.wait[at], &waits.wait[at + 1], (count - at) * sizeof(StreamWaits::Wait));
  waits.count.store(count, std::memory_order_relaxed);
}

void drop_forgotten(StreamWaits& waits) {
  const uint64_t forgotten = waits.forgotten.load(std::memory_order_acquire);
  while (waits.count.load(std::memory_order_relaxed) != 0 && waits.wait[0].at.waits <= forgotten) drop_wait(waits, 0);
}

// Takes the oldest wait if `upto` proves it.
bool take_proven(StreamWaits& waits, const StreamPoint& upto, EventPoint& awaited) {
  if (waits.count.load(std::memory_order_relaxed) == 0) return false;
  const WaitsClaim claim(waits);
  if (!claim.held()) return false;
  drop_forgotten(waits);
  if (waits.count.load(std::memory_order_relaxed) == 0) return false;
  const StreamWaits::Wait& oldest = waits.wait[0];
  if (oldest.at.waits > upto.waits && oldest.at.launched >= upto.launched) return false;
  awaited = oldest.awaited;
  drop_wait(waits, 0);
  return true;
}

void complete_chain(StreamState& state, const StreamPoint& upto, uint32_t links) {
  StreamWaits* const waits = waits_of(state);
  EventPoint awaited;
  while (links != 0 && waits != nullptr && take_proven(*waits, upto, awaited)) {
    StreamState& other = detail::g_streams->states[awaited.slot];
    raise_to(other.completed, awaited.upto.launched);
    complete_chain(other, awaited.upto, links - 1);
  }
}

}  // namespace

void complete_awaited(StreamState& state, const StreamPoint& upto) { complete_chain(state, upto, kMostLinks); }

void keep_wait(StreamState& state, const EventPoint& awaited) {
  StreamWaits* const waits = waits_of(state);
  if (waits == nullptr || slot_of(state) == awaited.slot) return;
  const StreamState& other = detail::g_streams->states[awaited.slot];
  const StreamWaits& others_waits = detail::g_streams->waits[awaited.slot];
  if (other.completed.load(std::memory_order_relaxed) >= awaited.upto.launched &&
      others_waits.count.load(std::memory_order_relaxed) == 0)
    return;  // known already
  const WaitsClaim claim(*waits);
  if (!claim.held()) return;
  drop_forgotten(*waits);
  uint32_t count = waits->count.load(std::memory_order_relaxed);
  if (count != 0 && waits->wait[count - 1].awaited == awaited) return;
  if (count == StreamWaits::kMost) {
    drop_wait(*waits, StreamWaits::kMost / 2);
    --count;
  }
  const uint64_t number = state.waits.load(std::memory_order_relaxed) + 1;
  waits->wait[count] = {{state.launched.load(), number}, awaited};
  waits->count.store(count + 1, std::memory_order_relaxed);
  state.waits.store(number, std::memory_order_release);
}

void forget_waits(StreamState& state) {
  const uint64_t made = state.waits.load(std::memory_order_acquire);
  if (StreamWaits* const waits = made != 0 ? waits_of(state) : nullptr; waits != nullptr)
    waits->forgotten.store(made, std::memory_order_release);
}

}  // namespace prof::preload
