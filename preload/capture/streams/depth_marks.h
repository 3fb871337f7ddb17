// Completion marks: behind every 32nd operation of a stream, at most once in half a millisecond and for at most a 512th of the time, something
// that tells when the GPU got there, so that a program that never synchronises still has a live depth. PROF_DEPTH=marks records events without timing (mark_events.h), PROF_DEPTH=values
// lets the GPU write the launch number into a word of pinned memory; each takes the other's way where the driver refuses its own.
//
// A mark is placed right behind an operation of the program on the same stream and nowhere else. Never while anybody
// captures: begin_capture() closes the gate and waits, bounded, for marks being placed (Dekker: each side writes its own
// word, then reads the other's, both sequentially consistent). Never on a stream that used programmatic dependent launch.
#pragma once

#include "preload/base/every_launch.h"
#include "preload/capture/streams/stream_table.h"

#include <algorithm>

namespace prof::preload {

inline constexpr uint64_t kMarkEvery = 32;
// With an event every 32nd launch a loop of empty kernels with GPU times took 3 % longer than without: 4 us each, the driver's two calls
// under CUPTI (an H200, 2026-11-24, in turn in one process). In a program that fills the caches between two launches they take longer.
inline constexpr uint64_t kMarksPerSecond = 2000;  // at most
inline constexpr uint64_t kMarkShare = 512, kMostPauses = 8;

enum class Marks { None, Events, Values };
void open_marks(Marks marks, uint64_t least_pause);                        // in ticks, between two marks of a stream
inline constexpr std::atomic<bool>& g_marks_on = g_every_launch.marks_on;  // set when a life opens
inline constexpr std::atomic<uint64_t>& g_mark_pause =
    g_every_launch.mark_pause;  // ticks, as what marks take allows now

// The pause behind a mark that took so many ticks: 512 times that, from `least` to 8 times `least`. It goes an eighth of the way, so that
// one mark that met a full queue or lost its processor counts little.
constexpr uint64_t next_mark_pause(uint64_t pause, uint64_t least, uint64_t took) {
  const uint64_t wanted = std::clamp(std::min(took, least) * kMarkShare, least, kMostPauses * least);
  return wanted > pause ? pause + (wanted - pause) / 8 : pause - (pause - wanted) / 8;
}

// Launches, but not time, have passed since the stream's last mark.
inline bool marked_just_now(const StreamState& state) {
  return state.last_launch_tick.load(std::memory_order_relaxed) - state.mark_tick.load(std::memory_order_relaxed) <
         g_mark_pause.load(std::memory_order_relaxed);
}

// A recording ends and the program continues: no marks from now on, and their events are destroyed.
void stop_marks();

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
inline constexpr std::atomic<uint32_t>& g_captures = g_every_launch.captures;  // begun and not ended
inline bool anybody_captures() { return g_captures.load(std::memory_order_relaxed) != 0; }

}  // namespace prof::preload
