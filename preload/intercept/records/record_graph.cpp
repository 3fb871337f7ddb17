#include "preload/intercept/records/record_graph.h"

#include "preload/capture/cupti/cupti_kinds.h"
#include "preload/capture/cupti/gpu_ids.h"
#include "preload/driver/driver.h"
#include "preload/driver/handle_map.h"
#include "preload/intercept/records/graph_node_records.h"
#include "preload/intercept/records/node_list.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/record/thread_local.h"

namespace prof::preload {
namespace {

// handle → [12 bits epoch of the recording | 28 bits operations | 24 bits GraphId]
HandleMap<8192> g_graphs;
std::atomic<uint32_t> g_next_graph{1};
constexpr uint64_t kMostOperations = (uint64_t{1} << 28) - 1;

uint64_t life_bits() { return t_local.epoch << 52; }

// Child graphs may contain child graphs. A program cannot build a cycle, but the recursion is bounded in case the
// driver returns one.
constexpr int kDeepest = 16;

void count_nodes(CUgraph graph, format::GraphDef& sums, int level) {
  if (level > kDeepest) return;
  const NodeList nodes(graph);
  for (size_t i = 0; i < nodes.size(); ++i) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    if (g_driver.cuGraphNodeGetType(nodes[i], &type) != CUDA_SUCCESS) continue;
    CUgraph child = nullptr;
    switch (type) {
      case CU_GRAPH_NODE_TYPE_KERNEL: ++sums.kernels; break;
      case CU_GRAPH_NODE_TYPE_MEMCPY: ++sums.copies; break;
      case CU_GRAPH_NODE_TYPE_MEMSET: ++sums.fills; break;
      case CU_GRAPH_NODE_TYPE_HOST: ++sums.host_nodes; break;
      case CU_GRAPH_NODE_TYPE_GRAPH:
        if (g_driver.cuGraphChildGraphNodeGetGraph != nullptr &&
            g_driver.cuGraphChildGraphNodeGetGraph(nodes[i], &child) == CUDA_SUCCESS) {
          count_nodes(child, sums, level + 1);
        }
        break;
      default: ++sums.other_nodes; break;
    }
  }
}

uint64_t operations_of(uint64_t nodes) { return g_whole_graphs.load(std::memory_order_relaxed) ? 1 : nodes; }

uint64_t flags_of([[maybe_unused]] CUgraphExec exec) {
  cuuint64_t flags = 0;
#if CUDA_VERSION >= 12000
  const DriverCall own;
  if (g_driver.cuGraphExecGetFlags == nullptr || g_driver.cuGraphExecGetFlags(exec, &flags) != CUDA_SUCCESS) return 0;
#endif
  return flags;
}

GraphFacts define_graph(CUgraphExec exec, format::GraphDef& definition, uint64_t operations) {
  const uint32_t id = g_next_graph.fetch_add(1, std::memory_order_relaxed);
  definition.id = static_cast<format::GraphId>(id);
  definition.handle = as_object(exec);
  definition.gpu_graph = gpu_graph_of(exec);
  definition.flags = flags_of(exec);
  if (!define(definition)) return {{}, operations};
  const uint64_t kept = operations < kMostOperations ? operations : kMostOperations;
  if (id > 0xffffff || !g_graphs.put(exec, life_bits() | kept << 24 | id)) count(format::LossCounter::intern_full);
  return {definition.id, operations};
}

}  // namespace

__attribute__((noinline)) void graph_instantiated(const CallScope& scope, CUgraphExec exec, CUgraph graph) {
  format::GraphDef definition;
  if (g_driver.cuGraphNodeGetType != nullptr) {
    const DriverCall own;
    count_nodes(graph, definition, 0);
  }
  define_graph(exec, definition, operations_of(definition.kernels + definition.copies + definition.fills));
  record_graph(scope, format::GraphOrigin::Instantiated, definition.gpu_graph, gpu_graph_of(graph));
}

void graph_destroyed(CUgraphExec exec) { g_graphs.erase(exec); }

GraphFacts graph_facts(CUgraphExec exec) {
  const uint64_t known = g_graphs.find(exec);
  if (known != 0 && known >> 52 << 52 == life_bits()) {
    return {static_cast<format::GraphId>(known & 0xffffff), known >> 24 & kMostOperations};
  }
  format::GraphDef definition;
  return define_graph(exec, definition, 1);
}

__attribute__((noinline)) void record_graph_launch(const CallScope& scope, Api api, const Launching& state,
                                                   GraphFacts graph, CUresult result) {
  if (is_left_out(state.stream)) return;
  format::GraphLaunch event;
  event.end = scope.end_tick();
  event.duration = scope.duration();
  event.graph = graph.id;
  event.api = api_id(api);
  event.stream = stream_id(state.stream);
  event.depth = state.depth;
  event.stack = stack_for(StackUse::Launch);
  event.result = static_cast<uint32_t>(result);
  event.flags = state.flags;
  emit(event);
}

}  // namespace prof::preload
