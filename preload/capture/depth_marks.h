// Completion marks (PROF_DEPTH=marks): every 16th operation of a stream the GPU writes the launch number into a word of pinned
// memory, so that a program that never synchronises still has a live depth. Where the driver refuses that, an event without
// timing tells the same, later.
//
// A mark is placed right behind an operation of the program on the same stream and nowhere else. Never while anybody
// captures: begin_capture() closes the gate and waits, bounded, for marks being placed (Dekker: each side writes its own
// word, then reads the other's, both sequentially consistent). Never on a stream that used programmatic dependent launch.
#pragma once

#include "preload/capture/stream_table.h"

namespace prof::preload {

inline constexpr uint64_t kMarkEvery = 16;

void open_marks(bool on);
bool marks_on();

void place_mark_if_due(StreamState& state, bool programmatic);

// The launch number that marks on this stream vouch for; 0: none.
inline uint64_t marked_completed(const StreamState& state, uint64_t launched) {
  const uint32_t* const word = state.mark_word.load(std::memory_order_relaxed);
  if (word == nullptr) return 0;
  const uint32_t behind = static_cast<uint32_t>(launched) - __atomic_load_n(word, __ATOMIC_RELAXED);
  return behind <= launched ? launched - behind : 0;
}

void marks_begin_capture();
void marks_end_capture();
bool anybody_captures();

}  // namespace prof::preload
