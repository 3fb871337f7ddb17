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
    StreamPoint before;
  };
  template <class C> static State enter(C, const CallScope&, CUstream stream) {
    StreamState* const state = stream_state(stream, C::kNullStream);
    return {state, point_so_far(state)};
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

// Whether the call on `stream` that just returned was part of a capture. Captures that began before the recording
// count.
inline bool was_captured(CUstream stream, NullStream null_stream) {
  return any_open_capture() && query_captured(stream, null_stream);
}

// The place is read before the real call: launches that other threads make during the call are not before the event.
struct EventRecord {
  static constexpr bool kNeedsGpuActivity = false;
  struct State {
    StreamState* stream;
    StreamPoint before;
  };
  template <class C, class... Args> static State enter(C, CallScope& scope, CUevent event, CUstream stream, Args...) {
    StreamState* const state = stream_state(stream, C::kNullStream);
    if (query_program_event(event, scope.begin_tick())) scope.restart_timer();
    event_changes(event);
    return {state, point_so_far(state)};
  }
  template <class C, class... Flags>
  static void leave(C, const CallScope& scope, State state, CUresult result, CUevent event, CUstream stream,
                    Flags... flags) {
    const bool external = (argument<unsigned>(flags...) & CU_EVENT_RECORD_EXTERNAL) != 0;
    if (result == CUDA_SUCCESS && !was_captured(stream, C::kNullStream)) {
      event_recorded(event, state.stream, state.before);
    } else if (external) {
      event_shared(event);  // launches of the graph record it
    }
    // Under capture an external event becomes a node. Any other event marks a place in the graph and adds nothing.
    if (external) record_if_captured(scope, state.stream, stream, result);
    record_arguments(scope, {argument<unsigned>(flags...), 0, 0, nullptr});
    record_call(scope, C::kApi, stream_id(state.stream), as_object(event), result);
  }
};

// cuStreamWaitEvent: the wait is for the recording that the driver had when it was called.
struct EventWait {
  static constexpr bool kNeedsGpuActivity = false;
  struct State {
    StreamState* stream;
    EventPoint awaited;
  };
  template <class C> static State enter(C, const CallScope&, CUstream stream, CUevent event, unsigned) {
    return {stream_state(stream, C::kNullStream), event_point(event)};
  }
  template <class C>
  static void leave(C, const CallScope& scope, State state, CUresult result, CUstream stream, CUevent event,
                    unsigned flags) {
    if (result == CUDA_SUCCESS && state.awaited.known() && !was_captured(stream, C::kNullStream))
      event_awaited(state.stream, event, state.awaited);
    record_arguments(scope, arguments_of(result, stream, event, flags));
    record_call(scope, C::kApi, stream_id(state.stream), as_object(event), result);
  }
};

struct EventFinish {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C> static EventPoint enter(C, const CallScope&, CUevent event) { return event_point(event); }
  template <class C>
  static void leave(C, const CallScope& scope, const EventPoint& before, CUresult result, CUevent event) {
    if (result == CUDA_SUCCESS) event_finished(event, before);
    record_wait(scope, C::kApi, {}, as_object(event), result);
    if (result == CUDA_SUCCESS) want_flush_after_wait();
  }
};

// All operations of a context are made to wait for an event. No stream is named, so the record has the event's handle.
struct ContextEventWait {
  static constexpr bool kNeedsGpuActivity = false;
  static constexpr bool kPlain = true;
  template <class Context> static uint64_t object(CUresult, Context, CUevent event) { return as_object(event); }
};

// All operations of a context as an event: it has no place on one stream.
struct ContextEventRecord {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class Context> static Nothing enter(C, const CallScope&, Context, CUevent event) {
    event_changes(event);
    return {};
  }
  template <class C, class Context>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, Context, CUevent event) {
    record_call(scope, C::kApi, {}, as_object(event), result);
  }
};

// cuIpcGetEventHandle, cuIpcOpenEventHandle: other processes record the event too.
struct EventShare {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C> static Nothing enter(C, const CallScope&, CUipcEventHandle*, CUevent event) {
    event_shared(event);
    return {};
  }
  template <class C> static Nothing enter(C, const CallScope&, CUevent*, CUipcEventHandle) { return {}; }
  template <class C>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUipcEventHandle*, CUevent event) {
    record_call(scope, C::kApi, {}, as_object(event), result);
  }
  template <class C>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUevent* made, CUipcEventHandle) {
    const bool ok = result == CUDA_SUCCESS && made != nullptr;
    if (ok) event_shared(*made);
    record_call(scope, C::kApi, {}, ok ? as_object(*made) : 0, result);
  }
};

struct EventDestroy {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C> static Nothing enter(C, CallScope& scope, CUevent event) {
    if (query_program_event(event, scope.begin_tick())) scope.restart_timer();
    event_destroyed(event);
    return {};
  }
  template <class C> static void leave(C, const CallScope& scope, Nothing, CUresult result, CUevent event) {
    record_call(scope, C::kApi, {}, as_object(event), result);
  }
};

}  // namespace topic
}  // namespace prof::preload
