// Streams, events and capture: plain ApiCall records. Their returns also update the queue depth. Order matters where
// handles are reused: a destruction is noted before the real call, because another thread may get the handle again
// right after it. It runs in the program.
#pragma once

#include "preload/hardware_counters/counter_recording.h"
#include "preload/intercept/records/captured_node.h"
#include "preload/intercept/records/record_arguments.h"
#include "preload/intercept/records/record_call.h"
#include "preload/lifecycle/call_scope.h"

namespace prof::preload {

// Whether a capture makes a graph. A graph that the program passes was recorded when it was created.
namespace form {

struct NewGraph {
  static constexpr bool kNewGraph = true;
};
struct GivenGraph {
  static constexpr bool kNewGraph = false;
};

}  // namespace form

namespace topic {

struct StreamCreate {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args> static Nothing enter(C, const CallScope&, Args...) { return {}; }
  template <class C, class... Args>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUstream* made, Args... args) {
    const bool ok = result == CUDA_SUCCESS && made != nullptr;
    record_arguments(scope, arguments_of(result, made, args...));
    const StreamState* stream = ok ? stream_state(*made, C::kNullStream) : nullptr;
    record_call(scope, C::kApi, stream_id(stream), ok ? as_object(*made) : 0, result);
  }
};

struct StreamDestroy {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C> static format::StreamId enter(C, const CallScope&, CUstream stream) {
    const format::StreamId id = stream_id(stream_state(stream, C::kNullStream));
    stream_destroyed(stream);
    return id;
  }
  template <class C>
  static void leave(C, const CallScope& scope, format::StreamId id, CUresult result, CUstream stream) {
    record_call(scope, C::kApi, id, as_object(stream), result);
  }
};

// cuStreamSynchronize, and cuStreamQuery if it returns CUDA_SUCCESS: everything launched before it has finished.
struct StreamFinish {
  static constexpr bool kNeedsGpuActivity = false;
  struct State {
    StreamState* stream;
    uint64_t before;
  };
  template <class C> static State enter(C, const CallScope&, CUstream stream) {
    StreamState* const state = stream_state(stream, C::kNullStream);
    return {state, launches_so_far(state)};
  }
  template <class C> static void leave(C, const CallScope& scope, State state, CUresult result, CUstream) {
    if (result == CUDA_SUCCESS) completed(state.stream, state.before);
    record_wait(scope, C::kApi, stream_id(state.stream), 0, result);
    if (result == CUDA_SUCCESS) want_flush_after_wait();
  }
};

struct CaptureBegin {
  static constexpr bool kNeedsGpuActivity = true;
  // These run around the real call, whether or not it is recorded.
  static void before_real() { capture_opens(); }
  static void after_real(CUresult result) {
    if (result != CUDA_SUCCESS) capture_closes();
  }
  template <class C, class... Args> static StreamState* enter(C, const CallScope&, CUstream stream, Args...) {
    StreamState* const state = stream_state(stream, C::kNullStream);  // now: a capturing stream must not be queried
    capture_begins(stream);
    return state;
  }
  template <class C, class... Args>
  static void leave(C, const CallScope& scope, StreamState* state, CUresult result, CUstream stream, Args... args) {
    if (result != CUDA_SUCCESS) {
      capture_ended();
    } else if constexpr (C::Form::kNewGraph) {
      record_capture_graph(scope, state, stream);
    }
    record_arguments(scope, {static_cast<uint32_t>(argument<CUstreamCaptureMode>(args...)), 0, 0, nullptr});
    record_call(scope, C::kApi, stream_id(state), 0, result);
  }
};

struct CaptureEnd {
  static constexpr bool kNeedsGpuActivity = false;
  static void before_real() {}
  static void after_real(CUresult result) {
    if (ended(result)) capture_closes();
  }
  // Whether the capture ended. An invalidated capture also ends, with an error. If there was no capture
  // (ILLEGAL_STATE), none ends.
  static bool ended(CUresult result) {
    return result != CUDA_ERROR_ILLEGAL_STATE && result != CUDA_ERROR_INVALID_VALUE;
  }
  template <class C> static StreamState* enter(C, const CallScope&, CUstream stream, CUgraph*) {
    return stream_state(stream, C::kNullStream);
  }
  template <class C>
  static void leave(C, const CallScope& scope, StreamState* state, CUresult result, CUstream, CUgraph* graph) {
    if (ended(result)) capture_ended();
    record_call(scope, C::kApi, stream_id(state), result == CUDA_SUCCESS && graph != nullptr ? as_object(*graph) : 0,
                result);
  }
};

// Noted before the real call: launches that other threads make during the call must not count as before the event.
struct EventRecord {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args>
  static StreamState* enter(C, const CallScope&, CUevent event, CUstream stream, Args...) {
    StreamState* const state = stream_state(stream, C::kNullStream);
    event_recorded(event, state);
    return state;
  }
  template <class C, class... Flags>
  static void leave(C, const CallScope& scope, StreamState* state, CUresult result, CUevent event, CUstream stream,
                    Flags... flags) {
    // Under capture an external event becomes a node. Any other event marks a place in the graph and adds nothing.
    if ((argument<unsigned>(flags...) & CU_EVENT_RECORD_EXTERNAL) != 0)
      record_if_captured(scope, state, stream, result);
    record_arguments(scope, {argument<unsigned>(flags...), 0, 0, nullptr});
    record_call(scope, C::kApi, stream_id(state), as_object(event), result);
  }
};

struct EventFinish {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C> static Nothing enter(C, const CallScope&, CUevent) { return {}; }
  template <class C> static void leave(C, const CallScope& scope, Nothing, CUresult result, CUevent event) {
    if (result == CUDA_SUCCESS) event_finished(event);
    record_wait(scope, C::kApi, {}, as_object(event), result);
    if (result == CUDA_SUCCESS) want_flush_after_wait();
  }
};

// All operations of a context as an event, or all of them made to wait for one. No stream is named, so the record has
// the event's handle.
struct ContextEvent {
  static constexpr bool kNeedsGpuActivity = false;
  static constexpr bool kPlain = true;
  template <class Context> static uint64_t object(CUresult, Context, CUevent event) { return as_object(event); }
};

struct EventDestroy {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C> static Nothing enter(C, const CallScope&, CUevent event) {
    event_destroyed(event);
    return {};
  }
  template <class C> static void leave(C, const CallScope& scope, Nothing, CUresult result, CUevent event) {
    record_call(scope, C::kApi, {}, as_object(event), result);
  }
};

}  // namespace topic
}  // namespace prof::preload
