// Copies of graphs: a clone, a graph twice inside another, instances of one graph made in each way, an instance that is
// updated and one whose node gets other parameters. Every operation names the code that captured it first.
// Expect: status 0
// Expect: log 1: whole, 0 lost, counter graph_nodes_unidentified 0, text origin=1 graph=, text origin=2 graph=, text origin=5 graph=
// Expect: report graph-nodes: 4 x ,kernel,1,.*,cuLaunchKernel,[0-9]+,[0-9]+,original,alpha$
// Expect: report graph-nodes: ,kernel,1,.*,cuGraphAddKernelNode,[0-9]+,[0-9]+,into the clone,beta$
// Expect: report graph-nodes: ,kernel,2,.*,cuLaunchKernel,[0-9]+,[0-9]+,original,alpha$
// Expect: report graph-nodes: ,kernel,1,.*,cuLaunchKernel,[0-9]+,[0-9]+,original,changed$
// Expect: report graph-nodes: ,kernel,1,.*,cuLaunchKernel,[0-9]+,[0-9]+,again,updated$
// Expect: report graph-nodes: ,child graph,,,,,,cuGraphAddChildGraphNode,[0-9]+,[0-9]+,parent,
// Expect: report graph-nodes: 0 x unknown
// Expect: report cuda-graphs: 0 x (unknown|captured before recording)
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExt.h>

static CUgraph capture(CUstream stream, const char* range, const char* kernel) {
  nvtxRangePushA(range);
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  SIM_CHECK(sim_program::launch(sim_program::kernel(kernel), stream));
  CUgraph graph;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  nvtxRangePop();
  return graph;
}

int main() {
  sim_program::make_context();
  sim_program::kernel("loads the module before anything is captured");
  const CUstream stream = sim_program::make_stream();
  const CUgraph original = capture(stream, "original", "alpha");

  CUgraph clone;
  SIM_CHECK(cuGraphClone(&clone, original));
  CUgraphNode node, added;
  size_t count = 1;
  SIM_CHECK(cuGraphGetNodes(original, &node, &count));
  CUDA_KERNEL_NODE_PARAMS kernel{};
  SIM_CHECK(cuGraphKernelNodeGetParams(node, &kernel));
  kernel.func = sim_program::kernel("beta");
  nvtxRangePushA("into the clone");
  SIM_CHECK(cuGraphAddKernelNode(&added, clone, nullptr, 0, &kernel));
  nvtxRangePop();
  CUgraphExec of_clone;
  SIM_CHECK(cuGraphInstantiate(&of_clone, clone, 0));
  SIM_CHECK(cuGraphLaunch(of_clone, stream));

  CUgraph parent;
  SIM_CHECK(cuGraphCreate(&parent, 0));
  CUgraphNode child;
  nvtxRangePushA("parent");
  SIM_CHECK(cuGraphAddChildGraphNode(&child, parent, nullptr, 0, original));
  SIM_CHECK(cuGraphAddChildGraphNode(&child, parent, &child, 1, original));
  nvtxRangePop();
  CUgraphExec of_parent;
  CUDA_GRAPH_INSTANTIATE_PARAMS how{};
  SIM_CHECK(cuGraphInstantiateWithParams(&of_parent, parent, &how));
  SIM_CHECK(cuGraphLaunch(of_parent, stream));

  CUgraphExec exec, changed;
  SIM_CHECK(cuGraphInstantiate(&exec, original, 0));
  SIM_CHECK(cuGraphInstantiate(&changed, original, 0));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  CUgraphExecUpdateResultInfo info{};
  SIM_CHECK(cuGraphExecUpdate(exec, capture(stream, "again", "updated"), &info));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuGraphLaunch(changed, stream));
  kernel.func = sim_program::kernel("changed");
  SIM_CHECK(cuGraphExecKernelNodeSetParams(changed, node, &kernel));
  SIM_CHECK(cuGraphLaunch(changed, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
}
