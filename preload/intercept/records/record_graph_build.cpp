#include "preload/intercept/records/record_graph_build.h"

#include "preload/capture/cupti/gpu_ids.h"
#include "preload/lifecycle/call_scope.h"

namespace prof::preload {

void record_added_graphs(const CallScope& scope, CUgraphNode node, CUgraph child) {
  if (child != nullptr) record_child(scope, node, gpu_graph_of(child), child);
}

void record_added_graphs(const CallScope& scope, CUgraphNode node, const CUgraphNodeParams* params) {
  if (params == nullptr) return;
  if (params->type == CU_GRAPH_NODE_TYPE_GRAPH) record_added_graphs(scope, node, params->graph.graph);
  if (params->type != CU_GRAPH_NODE_TYPE_CONDITIONAL || params->conditional.phGraph_out == nullptr) return;
  const uint64_t id = gpu_node_of(node);
  for (unsigned i = 0; i < params->conditional.size; ++i) {
    record_graph(scope, format::GraphOrigin::Body, gpu_graph_of(params->conditional.phGraph_out[i]), 0, id);
  }
}

void record_update(const CallScope& scope, CUgraphExec exec, CUgraph from) {
  record_graph(scope, format::GraphOrigin::Updated, gpu_graph_of(exec), gpu_graph_of(from));
}

void record_created(const CallScope& scope, CUgraph graph) {
  record_graph(scope, format::GraphOrigin::Empty, gpu_graph_of(graph), 0);
}

}  // namespace prof::preload
