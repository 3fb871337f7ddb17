// A graph that a kernel launches: CUPTI has no record of it, so only the program's own launches are recorded, and none
// of them is lost.
// Expect: status 0
// Expect: log 1: 1 graph_launch, whole, 0 lost
// Expect: report graph-nodes: ,kernel,1,.*,cuLaunchKernel,[0-9]+,[0-9]+,capture,body$
// Expect: trace: launches 2, with GPU time 1 .captured into a graph 1.; GPU operations 1, with launch 1; lost records 0
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExt.h>

int main() {
  sim_program::make_context();
  sim_program::kernel("loads the module before anything is captured");
  const CUstream stream = sim_program::make_stream(), second = sim_program::make_stream();
  nvtxRangePushA("capture");
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  SIM_CHECK(sim_program::launch(sim_program::kernel("body"), stream));
  CUgraph graph;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  nvtxRangePop();
  CUgraphExec exec;
  SIM_CHECK(cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
  SIM_CHECK(cuGraphUpload(exec, stream));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  sim_launch_from_device(exec, second);
  sim_launch_from_device(exec, second);
  SIM_CHECK(cuCtxSynchronize());
}
