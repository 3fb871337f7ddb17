// The node functions of the driver API: every way to add a node, and to change its operation, in a graph or in an
// instance of it.
#include <algorithm>

#include "tests/sim/api_call.h"
#include "tests/sim/device.h"
#include "tests/sim/graph.h"

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
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: arguments->condition = params.conditional; return true;
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

}  // namespace
}  // namespace sim

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
  if (result == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
    for (unsigned i = 0; i < params->conditional.size; ++i) {
      node->bodies.emplace_back(make_graph());
      node->body_handles.push_back(handle_of<CUgraph>(node->bodies.back().get()));
    }
    params->conditional.phGraph_out = node->body_handles.data();
  }
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
SIM_API(cuGraphConditionalHandleCreate)
(CUgraphConditionalHandle* handle, CUgraph, CUcontext, unsigned int value, unsigned int) {
  Lock lock(device_mutex());
  *handle = make_condition(value);
  return CUDA_SUCCESS;
}
SIM_API(cuGraphExecChildGraphNodeSetParams)(CUgraphExec exec, CUgraphNode node, CUgraph childGraph) {
  Node* const twin = twin_in(exec, node);
  if (twin == nullptr || twin->child == nullptr || childGraph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Lock lock(device_mutex());
  Graph& to = *twin->child;
  const Graph& from = *object<Graph>(childGraph);
  if (to.nodes.size() != from.nodes.size()) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < to.nodes.size(); ++i) to.nodes[i]->work = from.nodes[i]->work;
  return CUDA_SUCCESS;
}
SIM_API(cuGraphNodeSetParams)(CUgraphNode node, CUgraphNodeParams* params) {
  NodeArguments arguments;
  CUgraph child = nullptr;
  if (!arguments_of(*params, &arguments, &child) || child != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  return change(object<Node>(node), arguments);
}
SIM_API(cuGraphExecNodeSetParams)(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* params) {
  return impl_cuGraphNodeSetParams(handle_of<CUgraphNode>(twin_in(exec, node)), params);
}
SIM_API(cuGraphKernelNodeCopyAttributes)(CUgraphNode, CUgraphNode) { return CUDA_SUCCESS; }
SIM_API(cuGraphKernelNodeSetAttribute)(CUgraphNode, CUkernelNodeAttrID, const CUkernelNodeAttrValue*) {
  return CUDA_SUCCESS;
}
SIM_API(cuGraphKernelNodeGetAttribute)(CUgraphNode, CUkernelNodeAttrID, CUkernelNodeAttrValue* value) {
  *value = CUkernelNodeAttrValue{};
  return CUDA_SUCCESS;
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
