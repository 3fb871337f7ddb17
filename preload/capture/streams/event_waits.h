// What does the completion of one stream prove about others? If stream B waits for an event that was recorded on
// stream A (cuStreamWaitEvent), and something later on B has finished, A has finished up to the event. Each stream
// keeps its last waits. Hooks of waits and synchronising calls use it, launches do not.
//
//   A   k1 k2 E k3            E: A, after 2 operations
//   B         w(E) k4 F       the wait: B, after 0 operations, number 1; F: B, after 1 operation and 1 wait
//
// If F is known to have finished, so have k4, the wait and therefore k1 and k2. A place of B proves a wait if
// - it counts this wait: it was read after the wait's call had returned; or
// - it counts more operations than B had when that call had returned. Counts only grow, so the place was read later.
//
// Nothing waits: if another thread changes the waits of a stream, a new wait is not kept, and a finished one is found
// by the next completion. So depths stay upper bounds.
#pragma once

#include "preload/capture/streams/stream_table.h"

namespace prof::preload {

inline void raise_to(std::atomic<uint64_t>& value, uint64_t to) {
  uint64_t there = value.load(std::memory_order_relaxed);
  while (there < to && !value.compare_exchange_weak(there, to, std::memory_order_relaxed)) {}
}

inline StreamPoint point_so_far(const StreamState* state) {
  if (state == nullptr) return {};
  const uint64_t waits = state->waits.load(std::memory_order_acquire);
  return {state->launched.load(), waits};
}

// `state` waits for an event that was recorded at `awaited`. Call it after the real call. If the stream has eight waits
// already, one in the middle is dropped: the oldest ones are proven next, and the newest ones prove most.
void keep_wait(StreamState& state, const EventPoint& awaited);

// `state` has finished up to `upto`. Finds what that proves about the streams that it waited for, and about theirs.
void complete_awaited(StreamState& state, const StreamPoint& upto);
inline void complete_upto(StreamState& state, const StreamPoint& upto) {
  raise_to(state.completed, upto.launched);
  if (state.waits.load(std::memory_order_relaxed) != 0) complete_awaited(state, upto);
}

// The stream ends: its waits prove nothing any more.
void forget_waits(StreamState& state);

}  // namespace prof::preload
