// Which node of a graph did a call under stream capture become? Hooks call these functions after the real call, only
// while a stream captures. They run in the program. Every driver call here is a query inside a DriverCall, and none is
// about a stream that does not capture.
#pragma once

#include "preload/capture/streams/streams.h"
#include "preload/lifecycle/call_scope.h"

namespace prof::preload {

// The stream's handle for calls of libprof.so, independent of the caller's default stream.
inline CUstream named_stream(const StreamState* state, CUstream stream) {
  return state != nullptr ? state->handle.load(std::memory_order_relaxed) : stream;
}

// Whether the call just made on the stream was recorded into a graph. Costs one atomic load while no stream captures.
inline bool is_captured(const StreamState* state, CUstream stream) {
  if (!anybody_captures()) [[likely]]
    return false;
  return captured(named_stream(state, stream));
}

// Called after a successful call that added an operation to a capturing stream. Writes the graph_node records of what
// it added. If a call added nothing (a copy of no bytes), it writes the node before it again. A node belongs to its
// first record.
void record_captured_node(const CallScope& scope, const StreamState* state, CUstream stream);

// Called after cuStreamBeginCapture…: records the graph that the capture fills.
void record_capture_graph(const CallScope& scope, const StreamState* state, CUstream stream);

// Called after cuGraphLaunch into a capturing stream: records the child graph node and the copy inside it.
void record_captured_graph(const CallScope& scope, const StreamState* state, CUstream stream, CUgraphExec exec);

// For calls that submit something other than an operation to a stream: host functions, memory operations, allocations.
inline void record_if_captured(const CallScope& scope, const StreamState* state, CUstream stream, CUresult result) {
  if (result == CUDA_SUCCESS && is_captured(state, stream)) [[unlikely]]
    record_captured_node(scope, state, stream);
}

}  // namespace prof::preload
