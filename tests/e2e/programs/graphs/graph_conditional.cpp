// Conditional nodes: bodies filled by capture and node by node; a WHILE body runs twice.
// Expect: status 0
// Expect: log 1: 4 graph_node, text origin=3 graph=, whole, 0 lost
// Expect: report graph-nodes: ,kernel,1,.*,cuLaunchKernel,[0-9]+,[0-9]+,if,taken$
// Expect: report graph-nodes: ,kernel,2,.*,cuGraphAddKernelNode,[0-9]+,[0-9]+,while,repeated$
// Expect: trace: launches 2, with GPU time 0 .captured into a graph 1, in conditional bodies 1.; GPU operations 3, with launch 0, in conditional bodies 3; lost records 0
// Expect: report graph-nodes: 2 x ,conditional,,,,,,cuGraphAddNode,
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExt.h>

static CUgraph add_conditional(CUgraph graph, CUcontext context, CUgraphConditionalNodeType type, unsigned value) {
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  SIM_CHECK(
      cuGraphConditionalHandleCreate(&params.conditional.handle, graph, context, value, CU_GRAPH_COND_ASSIGN_DEFAULT));
  params.conditional.type = type;
  params.conditional.size = 1;
  CUgraphNode node;
  SIM_CHECK(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  return params.conditional.phGraph_out[0];
}

int main() {
  const CUcontext context = sim_program::make_context();
  const CUstream stream = sim_program::make_stream();
  CUgraph graph;
  SIM_CHECK(cuGraphCreate(&graph, 0));
  const CUgraph taken = add_conditional(graph, context, CU_GRAPH_COND_TYPE_IF, 1);
  nvtxRangePushA("if");
  SIM_CHECK(cuStreamBeginCaptureToGraph(stream, taken, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
  SIM_CHECK(sim_program::launch(sim_program::kernel("taken"), stream));
  CUgraph same;
  SIM_CHECK(cuStreamEndCapture(stream, &same));
  nvtxRangePop();
  const CUgraph repeated = add_conditional(graph, context, CU_GRAPH_COND_TYPE_WHILE, 2);
  nvtxRangePushA("while");
  CUDA_KERNEL_NODE_PARAMS kernel{};
  kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
  kernel.func = sim_program::kernel("repeated");
  CUgraphNode node;
  SIM_CHECK(cuGraphAddKernelNode(&node, repeated, nullptr, 0, &kernel));
  nvtxRangePop();
  CUgraphExec exec;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
}
