// Graphs built node by node: each kind of node through its own function and through the two general ones, and every
// node names the call and the range that added it.
// Expect: status 0
// Expect: log 1: 13 graph_node, 2 graph_made, whole, 0 lost, counter graph_nodes_unidentified 0
// Expect: report graph-nodes: ,kernel,1,.*,cuGraphAddKernelNode,[0-9]+,[0-9]+,build/one by one,second$
// Expect: report graph-nodes: ,memcpy,1,.*,cuGraphAddMemcpyNode,[0-9]+,[0-9]+,build/one by one,
// Expect: report graph-nodes: ,memset,1,.*,cuGraphAddMemsetNode,[0-9]+,[0-9]+,build/one by one,
// Expect: report graph-nodes: ,host,,,,,,cuGraphAddHostNode,[0-9]+,[0-9]+,build/one by one,
// Expect: report graph-nodes: ,empty,,,,,,cuGraphAddEmptyNode,
// Expect: report graph-nodes: ,event record,,,,,,cuGraphAddEventRecordNode,
// Expect: report graph-nodes: ,event wait,,,,,,cuGraphAddEventWaitNode,
// Expect: report graph-nodes: ,mem alloc,,,,,,cuGraphAddMemAllocNode,
// Expect: report graph-nodes: ,mem free,,,,,,cuGraphAddMemFreeNode,
// Expect: report graph-nodes: ,kernel,1,.*,cuGraphAddNode,[0-9]+,[0-9]+,build/by type,third$
// Expect: report graph-nodes: ,memset,1,.*,cuGraphAddNode,[0-9]+,[0-9]+,build/by type,
// Expect: report graph-nodes: ,kernel,1,.*,cuLaunchKernel,[0-9]+,[0-9]+,build/to graph,fourth$
// Expect: report cuda-graphs: ,4,1,2,1,5,1,.*,cuGraphLaunch,$
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExt.h>

static void host(void*) {}

int main() {
  const CUcontext context = sim_program::make_context();
  const CUstream stream = sim_program::make_stream();
  const CUdeviceptr memory = sim_program::allocate(4096);
  static char bytes[4096];
  CUevent event;
  SIM_CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  CUgraph graph;
  nvtxRangePushA("build");
  nvtxRangePushA("one by one");
  SIM_CHECK(cuGraphCreate(&graph, 0));
  CUgraphNode node;
  CUDA_KERNEL_NODE_PARAMS kernel{};
  kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
  kernel.func = sim_program::kernel("first");
  SIM_CHECK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
  kernel.func = sim_program::kernel("second");
  SIM_CHECK(cuGraphAddKernelNode(&node, graph, &node, 1, &kernel));
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = bytes;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE, copy.dstDevice = memory;
  copy.WidthInBytes = sizeof bytes, copy.Height = copy.Depth = 1;
  SIM_CHECK(cuGraphAddMemcpyNode(&node, graph, &node, 1, &copy, context));
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = memory, fill.elementSize = 1, fill.width = 64, fill.height = 1;
  SIM_CHECK(cuGraphAddMemsetNode(&node, graph, &node, 1, &fill, context));
  CUDA_HOST_NODE_PARAMS call{host, nullptr};
  SIM_CHECK(cuGraphAddHostNode(&node, graph, &node, 1, &call));
  SIM_CHECK(cuGraphAddEmptyNode(&node, graph, &node, 1));
  SIM_CHECK(cuGraphAddEventRecordNode(&node, graph, &node, 1, event));
  SIM_CHECK(cuGraphAddEventWaitNode(&node, graph, &node, 1, event));
  CUDA_MEM_ALLOC_NODE_PARAMS room{};
  room.bytesize = 256;
  SIM_CHECK(cuGraphAddMemAllocNode(&node, graph, &node, 1, &room));
  SIM_CHECK(cuGraphAddMemFreeNode(&node, graph, &node, 1, room.dptr));
  nvtxRangePop();
  nvtxRangePushA("by type");
  CUgraphNodeParams any{};
  any.type = CU_GRAPH_NODE_TYPE_KERNEL;
  any.kernel.func = sim_program::kernel("third");
  any.kernel.gridDimX = any.kernel.gridDimY = any.kernel.gridDimZ = 1;
  any.kernel.blockDimX = any.kernel.blockDimY = any.kernel.blockDimZ = 1;
  SIM_CHECK(cuGraphAddNode(&node, graph, &node, nullptr, 1, &any));
  any = {};
  any.type = CU_GRAPH_NODE_TYPE_MEMSET;
  any.memset.dst = memory, any.memset.elementSize = 1, any.memset.width = 32, any.memset.height = 1;
  SIM_CHECK(cuGraphAddNode(&node, graph, &node, nullptr, 1, &any));
  nvtxRangePop();
  nvtxRangePushA("to graph");
  SIM_CHECK(cuStreamBeginCaptureToGraph(stream, graph, &node, nullptr, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
  SIM_CHECK(sim_program::launch(sim_program::kernel("fourth"), stream));
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  nvtxRangePop();
  nvtxRangePop();
  CUgraphExec exec;
  SIM_CHECK(cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
}
