// The graph functions of the driver API: creation, inspection, copies, instantiation, update and launch. Nodes are in
// driver_graph_node.cpp.
#include <algorithm>
#include <map>

#include "tests/sim/api_call.h"
#include "tests/sim/capture.h"
#include "tests/sim/device.h"
#include "tests/sim/graph.h"

namespace sim {
namespace {

CUresult list(const std::vector<Node*>& nodes, CUgraphNode* out, size_t* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (out != nullptr) {
    for (size_t i = 0; i < *count; ++i) out[i] = i < nodes.size() ? handle_of<CUgraphNode>(nodes[i]) : nullptr;
  }
  *count = out == nullptr ? nodes.size() : std::min(*count, nodes.size());
  return CUDA_SUCCESS;
}

std::vector<Node*> dependents(const Node* node) {
  std::vector<Node*> found;
  for (const auto& one : node->graph->nodes) {
    if (std::find(one->after.begin(), one->after.end(), node) != one->after.end()) found.push_back(one.get());
  }
  return found;
}

CUresult edges(Graph* graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  std::vector<Node*> sources, targets;
  for (const auto& one : graph->nodes) {
    for (Node* before : one->after) {
      sources.push_back(before);
      targets.push_back(one.get());
    }
  }
  size_t room = *count;
  list(sources, from, &room);
  return list(targets, to, count);
}

CUresult instantiate(CUgraphExec* out, CUgraph handle, unsigned long long flags) {
  if (out == nullptr || handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  Lock lock(device_mutex());
  *out = handle_of<CUgraphExec>(make_exec(current_context(), *object<Graph>(handle), flags));
  return CUDA_SUCCESS;
}

// An update keeps the instance's ids and replaces the operation of each node; the topology must match.
CUgraphExecUpdateResult update(Exec* exec, const Graph& from, Node** wrong) {
  Graph& to = *exec->graph;
  *wrong = nullptr;
  if (to.nodes.size() != from.nodes.size()) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  for (size_t i = 0; i < to.nodes.size(); ++i) {
    Node& mine = *to.nodes[i];
    const Node& theirs = *from.nodes[i];
    *wrong = from.nodes[i].get();
    if (mine.arguments.type != theirs.arguments.type) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    if (mine.after.size() != theirs.after.size()) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  }
  *wrong = nullptr;
  for (size_t i = 0; i < to.nodes.size(); ++i) {
    to.nodes[i]->arguments = from.nodes[i]->arguments;
    to.nodes[i]->work = from.nodes[i]->work;
    to.nodes[i]->original = from.nodes[i].get();
  }
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

}  // namespace
}  // namespace sim

SIM_API(cuGraphCreate)(CUgraph* phGraph, unsigned int) {
  if (phGraph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *phGraph = handle_of<CUgraph>(make_graph());
  return CUDA_SUCCESS;
}

SIM_API(cuGraphDestroy)(CUgraph hGraph) {
  if (hGraph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Lock lock(device_mutex());
  delete object<Graph>(hGraph);
  return CUDA_SUCCESS;
}

SIM_API(cuGraphNodeGetType)(CUgraphNode node, CUgraphNodeType* type) {
  if (node == nullptr || type == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *type = object<Node>(node)->arguments.type;
  return CUDA_SUCCESS;
}
SIM_API(cuGraphGetNodes)(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::vector<Node*> all;
  for (const auto& one : object<Graph>(graph)->nodes) all.push_back(one.get());
  return list(all, nodes, count);
}
SIM_API(cuGraphGetRootNodes)(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  std::vector<Node*> roots;
  for (const auto& one : object<Graph>(graph)->nodes) {
    if (one->after.empty()) roots.push_back(one.get());
  }
  return list(roots, nodes, count);
}
SIM_API(cuGraphGetEdges)(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return edges(object<Graph>(graph), from, to, count);
}
SIM_API(cuGraphGetEdges_v2)(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData*, size_t* count) {
  return edges(object<Graph>(graph), from, to, count);
}
SIM_API(cuGraphNodeGetDependencies)(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return list(object<Node>(node)->after, nodes, count);
}
SIM_API(cuGraphNodeGetDependencies_v2)(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData*, size_t* count) {
  return list(object<Node>(node)->after, nodes, count);
}
SIM_API(cuGraphNodeGetDependentNodes)(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return list(dependents(object<Node>(node)), nodes, count);
}
SIM_API(cuGraphNodeGetDependentNodes_v2)(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData*, size_t* count) {
  return list(dependents(object<Node>(node)), nodes, count);
}
SIM_API(cuGraphAddDependencies)(CUgraph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  for (size_t i = 0; i < count; ++i) object<Node>(to[i])->after.push_back(object<Node>(from[i]));
  return CUDA_SUCCESS;
}
SIM_API(cuGraphAddDependencies_v2)
(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData*, size_t count) {
  return impl_cuGraphAddDependencies(graph, from, to, count);
}
SIM_API(cuGraphRemoveDependencies)(CUgraph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    std::vector<Node*>& after = object<Node>(to[i])->after;
    after.erase(std::remove(after.begin(), after.end(), object<Node>(from[i])), after.end());
  }
  return CUDA_SUCCESS;
}
SIM_API(cuGraphRemoveDependencies_v2)
(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData*, size_t count) {
  return impl_cuGraphRemoveDependencies(graph, from, to, count);
}
SIM_API(cuGraphDestroyNode)(CUgraphNode node) {
  Lock lock(device_mutex());
  remove_node(object<Node>(node));
  return CUDA_SUCCESS;
}
SIM_API(cuGraphClone)(CUgraph* phGraphClone, CUgraph originalGraph) {
  if (phGraphClone == nullptr || originalGraph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *phGraphClone = handle_of<CUgraph>(clone_graph(*object<Graph>(originalGraph)).release());
  return CUDA_SUCCESS;
}
SIM_API(cuGraphNodeFindInClone)(CUgraphNode* phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph) {
  for (const auto& one : object<Graph>(hClonedGraph)->nodes) {
    if (one->original != object<Node>(hOriginalNode)) continue;
    *phNode = handle_of<CUgraphNode>(one.get());
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuGraphInstantiate)(CUgraphExec* out, CUgraph graph, CUgraphNode* error, char* log, size_t bytes) {
  return impl_cuGraphInstantiate_v2(out, graph, error, log, bytes);
}
SIM_API(cuGraphInstantiate_v2)(CUgraphExec* out, CUgraph graph, CUgraphNode* error, char* log, size_t bytes) {
  if (error != nullptr) *error = nullptr;
  if (log != nullptr && bytes != 0) log[0] = '\0';
  return instantiate(out, graph, 0);
}
SIM_API(cuGraphInstantiateWithFlags)(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  return instantiate(out, graph, flags);
}
SIM_API(cuGraphInstantiateWithParams)(CUgraphExec* out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  params->hErrNode_out = nullptr;
  params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  return instantiate(out, graph, params->flags);
}
SIM_API(cuGraphExecGetFlags)(CUgraphExec exec, cuuint64_t* flags) {
  *flags = object<Exec>(exec)->flags;
  return CUDA_SUCCESS;
}
SIM_API(cuGraphExecUpdate_v2)(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  Lock lock(device_mutex());
  Node* wrong = nullptr;
  info->result = update(object<Exec>(exec), *object<Graph>(graph), &wrong);
  info->errorNode = handle_of<CUgraphNode>(wrong);
  info->errorFromNode = nullptr;
  return info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}
SIM_API(cuGraphExecUpdate)(CUgraphExec exec, CUgraph graph, CUgraphNode* error, CUgraphExecUpdateResult* result) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult status = impl_cuGraphExecUpdate_v2(exec, graph, &info);
  if (error != nullptr) *error = info.errorNode;
  if (result != nullptr) *result = info.result;
  return status;
}
SIM_API(cuGraphUpload)(CUgraphExec, CUstream) { return CUDA_SUCCESS; }
SIM_API(cuGraphLaunch)(CUgraphExec exec, CUstream hStream) {
  Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return launch_graph(object<Exec>(exec), stream);
}
SIM_API(cuGraphExecDestroy)(CUgraphExec exec) {
  if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Lock lock(device_mutex());
  delete object<Exec>(exec);  // operations in flight have their own copy of the work
  return CUDA_SUCCESS;
}
