#include "preload/intercept/records/graph_node_records.h"

#include "preload/capture/cupti/gpu_ids.h"
#include "preload/capture/cupti/gpu_state.h"
#include "preload/capture/gpu_activity.h"
#include "preload/driver/driver.h"
#include "preload/intercept/records/node_list.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/stacks/call_stack.h"

namespace prof::preload {

namespace {

uint32_t type_of(CUgraphNode node) {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  if (g_driver.cuGraphNodeGetType == nullptr) return format::kNodeTypes;
  const DriverCall own;
  return g_driver.cuGraphNodeGetType(node, &type) == CUDA_SUCCESS ? static_cast<uint32_t>(type) : format::kNodeTypes;
}

// Whether a node of the copy has another index than its original. If the driver cannot pair nodes (a copy inside a
// child graph node), they are paired by the order in which the driver lists them.
bool renumbered(CUgraph copy, CUgraph original) {
  const NodeList from(original), to(copy);
  if (from.size() != to.size()) return true;
  for (size_t i = 0; i < from.size(); ++i) {
    CUgraphNode twin = nullptr;
    const DriverCall own;
    if (g_driver.cuGraphNodeFindInClone == nullptr ||
        g_driver.cuGraphNodeFindInClone(&twin, from[i], copy) != CUDA_SUCCESS) {
      twin = to[i];
    }
    if (static_cast<uint32_t>(gpu_node_of(from[i])) != static_cast<uint32_t>(gpu_node_of(twin))) return true;
  }
  return false;
}

}  // namespace

void count_unidentified() {
  if (cupti_in_use() != nullptr) count(format::LossCounter::graph_nodes_unidentified);
}

void record_node(const CallScope& scope, CUgraphNode node, uint32_t flags, format::ConfigId config, CUgraphExec exec) {
  format::GraphNode event;
  event.time = scope.end_tick();
  event.what = type_of(node) | flags;
  event.node = gpu_node_of(node);
  event.config = config;
  event.stack = stack_for(StackUse::Launch);
  if (exec != nullptr) event.node = uint64_t{gpu_graph_of(exec)} << 32 | (event.node & UINT32_MAX);
  if (event.node >> 32 == 0) count_unidentified();
  keep(event);
}

void record_graph(const CallScope& scope, format::GraphOrigin origin, uint32_t graph, uint32_t from, uint64_t node,
                  bool renumbered) {
  if (graph == 0) return;  // count_unidentified() counts its nodes
  keep(format::GraphMade{scope.end_tick(), origin, graph, from, node, renumbered ? 1u : 0u});
}

void record_clone(const CallScope& scope, CUgraph clone, CUgraph original) {
  record_graph(scope, format::GraphOrigin::Clone, gpu_graph_of(clone), gpu_graph_of(original), 0,
               renumbered(clone, original));
}

void record_child(const CallScope& scope, CUgraphNode node, uint32_t from, CUgraph original) {
  CUgraph inside = nullptr;
  if (g_driver.cuGraphChildGraphNodeGetGraph != nullptr) {
    const DriverCall own;
    if (g_driver.cuGraphChildGraphNodeGetGraph(node, &inside) != CUDA_SUCCESS) inside = nullptr;
  }
  record_graph(scope, format::GraphOrigin::Child, gpu_graph_of(inside), from, gpu_node_of(node),
               original != nullptr && inside != nullptr && renumbered(inside, original));
}

}  // namespace prof::preload
