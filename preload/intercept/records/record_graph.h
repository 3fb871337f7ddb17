// Executable graphs: their launches, and how many operations one launch submits to the GPU. The operations are counted
// once, when the graph is instantiated. record_graph_build.h records how graphs are built. It runs in the program.
#pragma once

#include "preload/hardware_counters/counter_work.h"
#include "preload/intercept/records/record_launch.h"
#include "preload/lifecycle/call_scope.h"

namespace prof::preload {

struct GraphFacts {
  format::GraphId id;
  uint64_t operations;  // kernels + copies + fills of one launch; 1 if whole graphs are timed
};

// Called after a successful instantiation. Counts the nodes of `graph` (child graphs included) and defines the
// GraphDef.
void graph_instantiated(const CallScope& scope, CUgraphExec exec, CUgraph graph);
// Called before the real cuGraphExecDestroy.
void graph_destroyed(CUgraphExec exec);
// A graph whose instantiation was not recorded counts as one operation and has an empty GraphDef.
GraphFacts graph_facts(CUgraphExec exec);

void record_graph_launch(const CallScope& scope, Api api, const Launching& state, GraphFacts graph, CUresult result);

namespace topic {

struct GraphLaunch {
  static constexpr bool kNeedsGpuActivity = true;
  template <class C> static LaunchedWork work(C, CUgraphExec, CUstream stream) {
    return {LaunchedWork::Kind::Graph, nullptr, stream};
  }
  struct State {
    Launching launch;
    GraphFacts graph;
  };
  template <class C> static State enter(C, const CallScope&, CUgraphExec exec, CUstream stream) {
    return {enter_launch(stream, C::kNullStream), graph_facts(exec)};
  }
  template <class C>
  static void leave(C, const CallScope& scope, State& state, CUresult result, CUgraphExec exec, CUstream stream) {
    count_launch(scope, state.launch, stream, result, state.graph.operations, false);
    if ((state.launch.flags & format::kLaunchCaptured) != 0) [[unlikely]]
      record_captured_graph(scope, state.launch.stream, stream, exec);
    record_graph_launch(scope, C::kApi, state.launch, state.graph, result);
  }
};

struct GraphInstantiate {
  static constexpr bool kNeedsGpuActivity = true;
  template <class C, class... Args> static Nothing enter(C, const CallScope&, Args...) { return {}; }
  template <class C, class... Args>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUgraphExec* made, CUgraph graph, Args...) {
    const bool ok = result == CUDA_SUCCESS && made != nullptr;
    if (ok) graph_instantiated(scope, *made, graph);
    record_call(scope, C::kApi, {}, ok ? as_object(*made) : 0, result);
  }
};

struct GraphExecDestroy {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C> static Nothing enter(C, const CallScope&, CUgraphExec exec) {
    graph_destroyed(exec);
    return {};
  }
  template <class C> static void leave(C, const CallScope& scope, Nothing, CUresult result, CUgraphExec exec) {
    record_call(scope, C::kApi, {}, as_object(exec), result);
  }
};

}  // namespace topic
}  // namespace prof::preload
