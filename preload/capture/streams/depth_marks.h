// How is the depth of a stream known if the program never synchronises? By completion marks: after every 32nd operation
// of a stream, something that shows when the GPU got there. A stream gets at most one in half a millisecond, and marks
// take at most a 512th of the time. PROF_DEPTH=marks records events without timing (mark_events.h). With
// PROF_DEPTH=values the GPU writes the launch number to a word of pinned memory. If the driver refuses one way, the
// other is used.
//
// While host samples are taken only in starved time, every launch is marked, as often as the pause allows, and the
// helper thread queries the events (query_marks()). So a GPU that has finished its work is known to be idle although
// the program makes no call.
//
// The program's own events are marks too. Before one is recorded again or destroyed, it is queried if that can halve
// the depth, as often as marks are placed, and not right after one. This gives the GPU no work, so it also serves
// streams without marks.
//
// A mark is placed right after an operation of the program on the same stream and nowhere else. It is never placed
// while any thread captures: marks_begin_capture() closes the gate and waits, bounded, for marks being placed (Dekker:
// each side writes its own word, then reads the other's, both sequentially consistent). It is never placed on a stream
// that used programmatic dependent launch.
#pragma once

#include "preload/base/every_launch.h"
#include "preload/capture/streams/stream_table.h"

#include <algorithm>

namespace prof::preload {

inline constexpr uint32_t kMarkEvery = 32;
// With an event every 32nd launch, a loop of empty kernels with GPU times took 3 % longer than without: 4 us each, the
// driver's two calls under CUPTI (an H200, 2026-11-24, in turn in one process). They take longer in a program that
// fills the caches between two launches.
inline constexpr uint64_t kMarksPerSecond = 2000;  // at most
inline constexpr uint64_t kMarkShare = 512, kMostPauses = 8;

enum class Marks { None, Events, Values };
// `least_pause`: in ticks, between two marks of a stream. `every`: operations.
void open_marks(Marks marks, uint64_t least_pause, uint32_t every = kMarkEvery);
// Host samples begin or end to be taken in starved time only.
void mark_every_launch(bool each);
inline constexpr std::atomic<uint32_t>& g_mark_every = g_every_launch.mark_every;
inline constexpr std::atomic<bool>& g_marks_on = g_every_launch.marks_on;  // set when a recording starts
inline constexpr std::atomic<uint64_t>& g_mark_pause =
    g_every_launch.mark_pause;  // ticks, adapted to the cost of marks

// The pause after a mark that took `took` ticks: 512 times that, from `least` to 8 times `least`. The pause moves by an
// eighth of the difference, so that one mark that met a full queue or lost its processor counts little.
constexpr uint64_t next_mark_pause(uint64_t pause, uint64_t least, uint64_t took) {
  const uint64_t wanted = std::clamp(std::min(took, least) * kMarkShare, least, kMostPauses * least);
  return wanted > pause ? pause + (wanted - pause) / 8 : pause - (pause - wanted) / 8;
}

// Whether launches, but no time, have passed since the stream's last mark.
inline bool marked_just_now(const StreamState& state) {
  return state.last_launch_tick.load(std::memory_order_relaxed) - state.mark_tick.load(std::memory_order_relaxed) <
         g_mark_pause.load(std::memory_order_relaxed);
}

// A recording ends and the program continues: no marks are placed from now on, and their events are destroyed.
void stop_marks(bool destroy_events);

void place_mark_if_due(StreamState& state, bool programmatic);

// The launch number up to which marks of this stream prove completion; 0: none.
inline uint64_t marked_completed(const StreamState& state, uint64_t launched) {
  const uint32_t* const word = state.mark_word.load(std::memory_order_relaxed);
  if (word == nullptr) return 0;
  const uint32_t outstanding = static_cast<uint32_t>(launched) - __atomic_load_n(word, __ATOMIC_RELAXED);
  return outstanding <= launched ? launched - outstanding : 0;
}

// Queries the recorded events of a stream, unless a thread captures. Returns whether all of them are known to have
// finished, and there was at least one since the stream began. The helper thread calls it.
bool query_marks(StreamState& state);
// Whether the newest mark of the stream says something about its newest operations.
inline bool has_marks(const StreamState& state) {
  return g_marks_on.load(std::memory_order_relaxed) && state.marked.load(std::memory_order_relaxed) != 0 &&
         !state.programmatic.load(std::memory_order_relaxed) && !state.marks_off.load(std::memory_order_relaxed);
}
// The program is about to record an event again, or to destroy it, at tick `now`: queries it if that is due. Returns
// whether it did.
bool query_program_event(CUevent event, uint64_t now);
// A context is about to be destroyed, and with it its events: waits, bounded, for marks that are being placed or
// queried. Its handle was removed before.
void marks_leave_context();

void marks_begin_capture();
void marks_end_capture();
inline constexpr std::atomic<uint32_t>& g_captures = g_every_launch.captures;  // begun and not ended
inline bool anybody_captures() { return g_captures.load(std::memory_order_relaxed) != 0; }

}  // namespace prof::preload
