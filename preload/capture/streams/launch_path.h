// What does every launch run between its entry and its record? It finds the state of its stream, its depth and its
// count. The code is inline, because nine calls into other files were a third of a hook's time. Hooks use it, in the
// program. The rare cases are in stream_lookup.cpp and depth_marks.cpp.
#pragma once

#include "preload/base/every_launch.h"
#include "preload/capture/streams/depth_marks.h"
#include "preload/capture/streams/stream_lookup.h"
#include "preload/capture/streams/stream_table.h"
#include "preload/driver/null_stream.h"
#include "preload/record/thread.h"
#include "preload/record/thread_local.h"

#include <cuda.h>

namespace prof::preload {

inline constexpr bool& g_depth_on = g_every_launch.depth_on;  // PROF_DEPTH is not off; set when a recording starts

// 0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD name a stream by context or thread.
inline bool is_created_stream(CUstream stream) {
  return reinterpret_cast<uintptr_t>(stream) > reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD);
}

// The state of `stream`; see find_or_define_stream().
inline StreamState* stream_state(CUstream stream, NullStream null_stream) {
  if (is_created_stream(stream) && t_local.state != nullptr) [[likely]] {
    // Most launches use the stream of the thread's last one. A slot in use again has another handle or is this stream.
    StreamState* const last = t_local.state->last_stream;
    if (last != nullptr && last->handle.load(std::memory_order_relaxed) == stream &&
        last->live.load(std::memory_order_acquire)) [[likely]] {
      return last;
    }
  }
  return find_or_define_stream(stream, null_stream);
}

inline format::StreamId stream_id(const StreamState* state) {
  return state != nullptr ? state->id : format::StreamId{};
}

// The launch number up to which all operations are known to have finished; at most `launched`.
inline uint64_t known_completed(const StreamState& state, uint64_t launched) {
  uint64_t done = state.completed.load(std::memory_order_relaxed);
  const uint64_t reported = state.reported.load(std::memory_order_relaxed);
  if (reported > done) done = reported;
  const uint64_t marked = marked_completed(state, launched);
  if (marked > done) done = marked;
  return done < launched ? done : launched;
}

// Called on entry of a launch.
inline uint64_t depth_before(const StreamState* state) {
  if (state == nullptr || !g_depth_on) return 0;
  const uint64_t launched = state->launched.load();
  return launched - known_completed(*state, launched);
}

// Called after a successful call that was not captured and returned at `tick`.
inline void launched(StreamState* state, uint64_t operations, uint64_t tick) {
  if (state == nullptr || operations == 0) return;
  // Stored before the count: a thread that sees the count sees the tick. (Two threads on one stream may swap their
  // ticks within a few ns. A context synchronisation that returns at that moment would take the later launch as
  // finished.)
  if (state->last_launch_tick.load(std::memory_order_relaxed) < tick) [[likely]] {
    state->last_launch_tick.store(tick, std::memory_order_relaxed);
  }
  state->launched.add(operations, t_local.state);
}

// Called after a launch: places a completion mark if it is due and safe (PROF_DEPTH=marks).
inline void mark_if_due(StreamState* state, bool programmatic) {
  if (!g_marks_on.load(std::memory_order_relaxed) || state == nullptr) return;
  const uint64_t since = state->launched.load() - state->marked.load(std::memory_order_relaxed);
  if ((since < g_mark_every.load(std::memory_order_relaxed) || marked_just_now(*state)) && !programmatic) [[likely]]
    return;
  if (state->context.load(std::memory_order_relaxed) != nullptr) place_mark_if_due(*state, programmatic);
}

// Whether the last launch on `stream` was recorded into a graph. One atomic load while no thread captures.
inline bool captured(CUstream stream, NullStream null_stream = NullStream::Legacy) {
  return anybody_captures() && query_captured(stream, null_stream);
}

}  // namespace prof::preload
