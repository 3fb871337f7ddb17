// A graph that a kernel launches: its operations have no launch call, which is said and counted; the code that captured them is known.
// Expect: status 0
// Expect: log 1: 1 graph_launch, whole, 0 lost
// Expect: report graph-nodes: ,kernel,3,.*,cuLaunchKernel,[0-9]+,[0-9]+,capture,body$
// Expect: trace: GPU operations 3, with launch 1, launched by a kernel 2
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
