// The graph functions of the driver API: explicit nodes, inspection, instantiation, update and launch.
#include <algorithm>
#include <map>

#include "api_call.h"
#include "capture.h"
#include "device.h"
#include "graph.h"

namespace sim {
namespace {

CUresult add(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies, size_t count,
             const NodeArguments& arguments, Node** made = nullptr) {
  if (out == nullptr || handle == nullptr || (count != 0 && dependencies == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  Context* context = current_context();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  std::vector<Node*> after;
  for (size_t i = 0; i < count; ++i) after.push_back(object<Node>(dependencies[i]));
  Work work = graph_node_work(arguments, context);
  Lock lock(device_mutex());
  Node* node = add_node(object<Graph>(handle), after, arguments, std::move(work));
  *out = handle_of<CUgraphNode>(node);
  if (made != nullptr) *made = node;
  return CUDA_SUCCESS;
}

NodeArguments kernel_arguments(const CUDA_KERNEL_NODE_PARAMS& params) {
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_KERNEL;
  arguments.kernel = params;
  return arguments;
}

CUDA_KERNEL_NODE_PARAMS newer(const CUDA_KERNEL_NODE_PARAMS_v1& old) {
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = old.func;
  params.gridDimX = old.gridDimX;
  params.gridDimY = old.gridDimY;
  params.gridDimZ = old.gridDimZ;
  params.blockDimX = old.blockDimX;
  params.blockDimY = old.blockDimY;
  params.blockDimZ = old.blockDimZ;
  params.sharedMemBytes = old.sharedMemBytes;
  params.kernelParams = old.kernelParams;
  params.extra = old.extra;
  return params;
}

CUDA_KERNEL_NODE_PARAMS from_v3(const CUDA_KERNEL_NODE_PARAMS_v3& from) {
  return {from.func,      from.gridDimX,       from.gridDimY,     from.gridDimZ, from.blockDimX, from.blockDimY,
          from.blockDimZ, from.sharedMemBytes, from.kernelParams, from.extra,    from.kern,      from.ctx};
}

bool arguments_of(const CUgraphNodeParams& params, NodeArguments* arguments, CUgraph* child) {
  arguments->type = params.type;
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: arguments->kernel = from_v3(params.kernel); return true;
    case CU_GRAPH_NODE_TYPE_MEMCPY: arguments->copy = params.memcpy.copyParams; return true;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      arguments->memset = {params.memset.dst,         params.memset.pitch, params.memset.value,
                           params.memset.elementSize, params.memset.width, params.memset.height};
      return true;
    case CU_GRAPH_NODE_TYPE_HOST: arguments->host = {params.host.fn, params.host.userData}; return true;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: arguments->event = object<Event>(params.eventRecord.event); return true;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: arguments->event = object<Event>(params.eventWait.event); return true;
    case CU_GRAPH_NODE_TYPE_EMPTY: return true;
    case CU_GRAPH_NODE_TYPE_GRAPH: *child = params.graph.graph; return true;
    default: return false;
  }
}

CUresult change(Node* node, const NodeArguments& arguments) {
  if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Work work = graph_node_work(arguments, current_context());
  Lock lock(device_mutex());
  node->arguments = arguments;
  node->work = std::move(work);
  return CUDA_SUCCESS;
}

Node* twin_in(CUgraphExec exec, CUgraphNode original) {
  for (const auto& one : object<Exec>(exec)->graph->nodes) {
    if (one->original == object<Node>(original)) return one.get();
  }
  return nullptr;
}

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

// An update keeps the instance's ids and takes over what each node does; the topology must match.
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

SIM_API(cuGraphAddKernelNode_v2)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
 const CUDA_KERNEL_NODE_PARAMS* params) {
  Work ignored;
  if (const CUresult wrong = kernel_work(*params, &ignored)) return wrong;
  return add(out, graph, dependencies, count, kernel_arguments(*params));
}
SIM_API(cuGraphAddKernelNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
 const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return add(out, graph, dependencies, count, kernel_arguments(newer(*params)));
}
SIM_API(cuGraphAddMemcpyNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, const CUDA_MEMCPY3D* params,
 CUcontext) {
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  arguments.copy = *params;
  return add(out, graph, dependencies, count, arguments);
}
SIM_API(cuGraphAddMemsetNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, const CUDA_MEMSET_NODE_PARAMS* params,
 CUcontext) {
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_MEMSET;
  arguments.memset = *params;
  return add(out, graph, dependencies, count, arguments);
}
SIM_API(cuGraphAddHostNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, const CUDA_HOST_NODE_PARAMS* params) {
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_HOST;
  arguments.host = *params;
  return add(out, graph, dependencies, count, arguments);
}
SIM_API(cuGraphAddEmptyNode)(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count) {
  return add(out, graph, dependencies, count, NodeArguments{});
}
SIM_API(cuGraphAddChildGraphNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUgraph childGraph) {
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_GRAPH;
  Node* node = nullptr;
  const CUresult result = add(out, graph, dependencies, count, arguments, &node);
  if (result == CUDA_SUCCESS) node->child = clone_graph(*object<Graph>(childGraph));
  return result;
}
SIM_API(cuGraphAddEventRecordNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUevent event) {
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  arguments.event = object<Event>(event);
  return add(out, graph, dependencies, count, arguments);
}
SIM_API(cuGraphAddEventWaitNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUevent event) {
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  arguments.event = object<Event>(event);
  return add(out, graph, dependencies, count, arguments);
}
SIM_API(cuGraphAddMemFreeNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUdeviceptr dptr) {
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  arguments.freed = dptr;
  return add(out, graph, dependencies, count, arguments);
}
SIM_API(cuGraphAddMemAllocNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  const CUresult allocated = impl_cuMemAlloc_v2(&params->dptr, params->bytesize);
  if (allocated != CUDA_SUCCESS) return allocated;
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  arguments.allocation = *params;
  return add(out, graph, dependencies, count, arguments);
}
SIM_API(cuGraphAddNode)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUgraphNodeParams* params) {
  NodeArguments arguments;
  CUgraph child = nullptr;
  if (!arguments_of(*params, &arguments, &child)) return CUDA_ERROR_NOT_SUPPORTED;
  Node* node = nullptr;
  const CUresult result = add(out, graph, dependencies, count, arguments, &node);
  if (result == CUDA_SUCCESS && child != nullptr) node->child = clone_graph(*object<Graph>(child));
  return result;
}
SIM_API(cuGraphAddNode_v2)
(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData*, size_t count,
 CUgraphNodeParams* params) {
  return impl_cuGraphAddNode(out, graph, dependencies, count, params);
}

SIM_API(cuGraphKernelNodeGetParams_v2)(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
  *params = object<Node>(node)->arguments.kernel;
  return CUDA_SUCCESS;
}
SIM_API(cuGraphKernelNodeSetParams_v2)(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
  return change(object<Node>(node), kernel_arguments(*params));
}
SIM_API(cuGraphKernelNodeSetParams)(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return change(object<Node>(node), kernel_arguments(newer(*params)));
}
SIM_API(cuGraphExecKernelNodeSetParams_v2)(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
  return change(twin_in(exec, node), kernel_arguments(*params));
}
SIM_API(cuGraphExecKernelNodeSetParams)(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return change(twin_in(exec, node), kernel_arguments(newer(*params)));
}
SIM_API(cuGraphMemcpyNodeGetParams)(CUgraphNode node, CUDA_MEMCPY3D* params) {
  *params = object<Node>(node)->arguments.copy;
  return CUDA_SUCCESS;
}
SIM_API(cuGraphMemsetNodeGetParams)(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* params) {
  *params = object<Node>(node)->arguments.memset;
  return CUDA_SUCCESS;
}
SIM_API(cuGraphHostNodeGetParams)(CUgraphNode node, CUDA_HOST_NODE_PARAMS* params) {
  *params = object<Node>(node)->arguments.host;
  return CUDA_SUCCESS;
}
SIM_API(cuGraphMemcpyNodeSetParams)(CUgraphNode node, const CUDA_MEMCPY3D* params) {
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  arguments.copy = *params;
  return change(object<Node>(node), arguments);
}
SIM_API(cuGraphExecMemcpyNodeSetParams)(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* params, CUcontext) {
  return impl_cuGraphMemcpyNodeSetParams(handle_of<CUgraphNode>(twin_in(exec, node)), params);
}
SIM_API(cuGraphMemsetNodeSetParams)(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params) {
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_MEMSET;
  arguments.memset = *params;
  return change(object<Node>(node), arguments);
}
SIM_API(cuGraphExecMemsetNodeSetParams)
(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  return impl_cuGraphMemsetNodeSetParams(handle_of<CUgraphNode>(twin_in(exec, node)), params);
}
SIM_API(cuGraphHostNodeSetParams)(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* params) {
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_HOST;
  arguments.host = *params;
  return change(object<Node>(node), arguments);
}
SIM_API(cuGraphExecHostNodeSetParams)(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS* params) {
  return impl_cuGraphHostNodeSetParams(handle_of<CUgraphNode>(twin_in(exec, node)), params);
}
SIM_API(cuGraphChildGraphNodeGetGraph)(CUgraphNode node, CUgraph* graph) {
  *graph = handle_of<CUgraph>(object<Node>(node)->child.get());
  return CUDA_SUCCESS;
}
SIM_API(cuGraphEventRecordNodeGetEvent)(CUgraphNode node, CUevent* event) {
  *event = handle_of<CUevent>(object<Node>(node)->arguments.event);
  return CUDA_SUCCESS;
}
SIM_API(cuGraphEventWaitNodeGetEvent)(CUgraphNode node, CUevent* event) {
  *event = handle_of<CUevent>(object<Node>(node)->arguments.event);
  return CUDA_SUCCESS;
}
SIM_API(cuGraphKernelNodeCopyAttributes)(CUgraphNode, CUgraphNode) { return CUDA_SUCCESS; }
SIM_API(cuGraphKernelNodeSetAttribute)(CUgraphNode, CUkernelNodeAttrID, const CUkernelNodeAttrValue*) {
  return CUDA_SUCCESS;
}
SIM_API(cuGraphKernelNodeGetAttribute)(CUgraphNode, CUkernelNodeAttrID, CUkernelNodeAttrValue* value) {
  *value = CUkernelNodeAttrValue{};
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
SIM_API(cuGraphNodeSetEnabled)(CUgraphExec exec, CUgraphNode node, unsigned int isEnabled) {
  Node* twin = twin_in(exec, node);
  if (twin == nullptr) return CUDA_ERROR_INVALID_VALUE;
  twin->enabled = isEnabled != 0;
  return CUDA_SUCCESS;
}
SIM_API(cuGraphNodeGetEnabled)(CUgraphExec exec, CUgraphNode node, unsigned int* isEnabled) {
  const Node* twin = twin_in(exec, node);
  if (twin == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *isEnabled = twin->enabled;
  return CUDA_SUCCESS;
}
SIM_API(cuGraphUpload)(CUgraphExec, CUstream) { return CUDA_SUCCESS; }
SIM_API(cuGraphLaunch)(CUgraphExec exec, CUstream hStream) {
  Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return launch_graph(object<Exec>(exec), stream);
}
SIM_API(cuGraphExecDestroy)(CUgraphExec exec) {
  if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Lock lock(device_mutex());
  delete object<Exec>(exec);  // operations in flight carry their own copy of the work
  return CUDA_SUCCESS;
}
