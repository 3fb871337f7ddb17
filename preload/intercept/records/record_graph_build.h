// How are graphs built and changed? They are created and cloned, nodes are added, parameters are set, executable graphs
// are updated. Each call is a plain ApiCall, and a second record has what it did to which node (graph_node_records.h).
// captured_node.h records what a stream captures. It runs in the program.
#pragma once

#include "preload/intercept/records/captured_node.h"
#include "preload/intercept/records/graph_node_records.h"
#include "preload/intercept/records/record_launch.h"
#include "preload/lifecycle/call_scope.h"

namespace prof::preload {

// The parameters of a kernel node: v1 has no CUkernel.
template <class Params> inline LaunchShape kernel_shape(const Params& p) {
  LaunchShape shape = shape_of(p.func, nullptr, p.gridDimX, p.gridDimY, p.gridDimZ, p.blockDimX, p.blockDimY,
                               p.blockDimZ, p.sharedMemBytes, 0);
  if constexpr (requires { p.kern; }) {
    if (shape.function == nullptr) shape.function = reinterpret_cast<CUfunction>(p.kern);
  }
  return shape;
}

template <class Params> inline format::ConfigId kernel_config(Api api, const Params* params) {
  return params != nullptr ? config_id(kernel_shape(*params), api, true) : format::ConfigId{};
}

void record_added_graphs(const CallScope& scope, CUgraphNode node, CUgraph child);
void record_added_graphs(const CallScope& scope, CUgraphNode node, const CUgraphNodeParams* params);

// What the last argument contains about a node that is added or changed. config(): what a kernel node will launch; 0
// for other nodes. record_graphs(): records the graphs that a new node contains. recorded_event(): the event that
// launches of the node record, or null.
namespace form {

struct NoEvent {
  template <class... Args> static CUevent recorded_event(Args...) { return nullptr; }
};
struct KernelNode : NoEvent {
  template <class... Args> static format::ConfigId config(Api api, Args... args) {
    return kernel_config(api, last_argument(args...));
  }
  template <class... Args> static void record_graphs(const CallScope&, CUgraphNode, Args...) {}
};
struct AnyNode {
  template <class... Args> static format::ConfigId config(Api api, Args... args) {
    const CUgraphNodeParams* const params = last_argument(args...);
    if (params == nullptr || params->type != CU_GRAPH_NODE_TYPE_KERNEL) return {};
    return kernel_config(api, &params->kernel);
  }
  template <class... Args> static void record_graphs(const CallScope& scope, CUgraphNode node, Args... args) {
    record_added_graphs(scope, node, last_argument(args...));
  }
  template <class... Args> static CUevent recorded_event(Args... args) {
    const CUgraphNodeParams* const params = last_argument(args...);
    const bool records = params != nullptr && params->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    return records ? params->eventRecord.event : nullptr;
  }
};
struct ChildGraphNode : NoEvent {
  template <class... Args> static format::ConfigId config(Api, Args...) { return {}; }
  template <class... Args> static void record_graphs(const CallScope& scope, CUgraphNode node, Args... args) {
    record_added_graphs(scope, node, last_argument(args...));
  }
};
struct OtherNode : NoEvent {
  template <class... Args> static format::ConfigId config(Api, Args...) { return {}; }
  template <class... Args> static void record_graphs(const CallScope&, CUgraphNode, Args...) {}
};
struct EventRecordNode : OtherNode {
  template <class... Args> static CUevent recorded_event(Args... args) { return last_argument(args...); }
};

}  // namespace form

// Records from which graph the executable graph was updated.
void record_update(const CallScope& scope, CUgraphExec exec, CUgraph from);
void record_created(const CallScope& scope, CUgraph graph);

namespace topic {

struct GraphCreate {
  static constexpr bool kNeedsGpuActivity = true;
  template <class C> static Nothing enter(C, const CallScope&, CUgraph*, unsigned) { return {}; }
  template <class C> static void leave(C, const CallScope& scope, Nothing, CUresult result, CUgraph* made, unsigned) {
    const bool ok = result == CUDA_SUCCESS && made != nullptr;
    if (ok) record_created(scope, *made);
    record_call(scope, C::kApi, {}, ok ? as_object(*made) : 0, result);
  }
};

struct GraphClone {
  static constexpr bool kNeedsGpuActivity = true;
  template <class C> static Nothing enter(C, const CallScope&, CUgraph*, CUgraph) { return {}; }
  template <class C>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUgraph* made, CUgraph original) {
    const bool ok = result == CUDA_SUCCESS && made != nullptr;
    if (ok) record_clone(scope, *made, original);
    record_call(scope, C::kApi, {}, ok ? as_object(*made) : 0, result);
  }
};

// Launches of the graph will record the event of a node that is added or changed.
template <class C, class... Args> inline void event_in_graph(Args... args) {
  if (const CUevent event = C::Form::recorded_event(args...); event != nullptr) event_shared(event);
}

// (where the node is stored, the graph, …, the node's parameters)
struct GraphAdd {
  static constexpr bool kNeedsGpuActivity = true;
  template <class C, class... Args> static Nothing enter(C, const CallScope&, Args... args) {
    event_in_graph<C>(args...);
    return {};
  }
  template <class C, class... Rest>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUgraphNode* made, CUgraph, Rest... rest) {
    if (result == CUDA_SUCCESS && made != nullptr) {
      record_node(scope, *made, 0, C::Form::config(C::kApi, rest...));
      C::Form::record_graphs(scope, *made, rest...);
    }
    record_call(scope, C::kApi, {}, result == CUDA_SUCCESS && made != nullptr ? as_object(*made) : 0, result);
  }
};

// New parameters for a node of a graph that is not executable.
struct GraphNodeChange {
  static constexpr bool kNeedsGpuActivity = true;
  template <class C, class... Args> static Nothing enter(C, const CallScope&, Args... args) {
    event_in_graph<C>(args...);
    return {};
  }
  template <class C, class... Rest>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUgraphNode node, Rest... rest) {
    if (result == CUDA_SUCCESS) record_node(scope, node, format::kNodeChanged, C::Form::config(C::kApi, rest...));
    record_call(scope, C::kApi, {}, as_object(node), result);
  }
};

// The same for one executable graph. The node is named by its original.
struct GraphExecChange {
  static constexpr bool kNeedsGpuActivity = true;
  template <class C, class... Args> static Nothing enter(C, const CallScope&, Args... args) {
    event_in_graph<C>(args...);
    return {};
  }
  template <class C, class... Rest>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUgraphExec exec, CUgraphNode node,
                    Rest... rest) {
    if (result == CUDA_SUCCESS) record_node(scope, node, format::kNodeChanged, C::Form::config(C::kApi, rest...), exec);
    record_call(scope, C::kApi, {}, as_object(exec), result);
  }
};

struct GraphUpdate {
  static constexpr bool kNeedsGpuActivity = true;
  template <class C, class... Args> static Nothing enter(C, const CallScope&, Args...) { return {}; }
  template <class C, class... Rest>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUgraphExec exec, CUgraph from, Rest...) {
    if (result == CUDA_SUCCESS) record_update(scope, exec, from);
    record_call(scope, C::kApi, {}, as_object(exec), result);
  }
};

// A host function or a semaphore in a stream. It submits no GPU operation, but it is a node if the stream captures.
struct StreamWork {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args> static StreamState* enter(C c, const CallScope&, Args... args) {
    return stream_argument(c, args...);
  }
  template <class C, class... Args>
  static void leave(C, const CallScope& scope, StreamState* stream, CUresult result, Args... args) {
    record_if_captured(scope, stream, argument<CUstream>(args...), result);
    record_call(scope, C::kApi, stream_id(stream), object_of(args...), result);
  }
};

}  // namespace topic
}  // namespace prof::preload
