// What a call under stream capture became: a node of a graph. Called behind the real call, only while somebody captures. In the
// program; every driver call here is a query, bracketed, and none is about a stream that does not capture.
#pragma once

#include "preload/capture/streams/streams.h"
#include "preload/lifecycle/call_scope.h"

namespace prof::preload {

// The stream as our own calls name it, whatever the default stream of the caller is.
inline CUstream named_stream(const StreamState* state, CUstream stream) {
  return state != nullptr ? state->handle.load(std::memory_order_relaxed) : stream;
}

// Whether the call just made on the stream was recorded into a graph. One atomic load while nobody captures.
inline bool is_captured(const StreamState* state, CUstream stream) {
  if (!anybody_captures()) [[likely]]
    return false;
  return captured(named_stream(state, stream));
}

// Behind a successful call that added work to a stream that captures: writes the graph_node records of what it added. A call
// that added nothing (a copy of no bytes) writes the node before it again; a node belongs to its first record.
void record_captured_node(const CallScope& scope, const StreamState* state, CUstream stream);

// Behind cuStreamBeginCapture…: the graph that it fills.
void record_capture_graph(const CallScope& scope, const StreamState* state, CUstream stream);

// Behind cuGraphLaunch into a stream that captures: the child graph node and the copy inside it.
void record_captured_graph(const CallScope& scope, const StreamState* state, CUstream stream, CUgraphExec exec);

// For calls that put something else than an operation into a stream: host functions, memory operations, allocations.
inline void record_if_captured(const CallScope& scope, const StreamState* state, CUstream stream, CUresult result) {
  if (result == CUDA_SUCCESS && is_captured(state, stream)) [[unlikely]]
    record_captured_node(scope, state, stream);
}

}  // namespace prof::preload
