// A graph that a kernel launches is timed as a whole where that is asked for (PROF_DEVICE_GRAPHS) before there is a context; what the host
// launches has its nodes as ever, and the log says where it came from.
// Env: PROF_DEVICE_GRAPHS=on
// Expect: status 0
// Expect: log 1: 1 graph_launch, 1 kernel_run, 2 graph_run, whole, 0 lost, text key="device_graphs" value="on", text graph=2 by_kernel=1
// Expect: report graph-nodes: ,kernel,1,.*,cuLaunchKernel,[0-9]+,[0-9]+,capture,body$
// Expect: trace: "name":"graph 2, launched by kernels
// Expect: trace: "cat":"kernel","name":"[^"]*graph[^"]*".*"graph id":2
// Expect: trace: launches 2, with GPU time 1 .captured into a graph 1.; GPU operations 3, with launch 1, launched by a kernel 2; lost records 0
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
  SIM_CHECK(cuCtxSynchronize());
}
