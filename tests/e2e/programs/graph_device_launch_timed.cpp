// A graph that a kernel launches is timed as a whole where that is asked for (PROF_DEVICE_GRAPHS) before there is a context; what the host
// launches has its nodes as ever, and the log says where it came from. So is a graph that is made behind the first launch. CUPTI sees each being
// made and uploaded without a break.
// Env: PROF_DEVICE_GRAPHS=on
// Expect: status 0
// Expect: log 1: 2 graph_launch, 2 kernel_run, 3 graph_run, whole, 0 lost, text key="device_graphs" value="on", text graph=2 by_kernel=1, text graph=3 by_kernel=1
// Expect: report graph-nodes: ,kernel,2,.*,cuLaunchKernel,[0-9]+,[0-9]+,capture,body$
// Expect: trace: "name":"graph 2, launched by kernels
// Expect: trace: "cat":"kernel","name":"[^"]*graph[^"]*".*"graph id":2
// Expect: trace: launches 3, with GPU time 2 .captured into a graph 1.; GPU operations 5, with launch 2, launched by a kernel 3; lost records 0
// Expect: trace valid
// Expect: stderr empty
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
  CUgraphExec later;
  SIM_CHECK(cuGraphInstantiateWithFlags(&later, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
  SIM_CHECK(cuGraphUpload(later, stream));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  sim_launch_from_device(later, second);
  SIM_CHECK(cuCtxSynchronize());
}
