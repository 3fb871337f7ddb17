// Timing graphs that kernels launch (PROF_DEVICE_GRAPHS) is refused where the recording begins when there is a context: CUPTI would end the
// program. It is said, and all else is recorded.
// Env: PROF_DEVICE_GRAPHS=on PROF_START=profiler
// Expect: status 0
// Expect: log 1: 1 graph_launch, 1 kernel_run, no graph_run, whole, 0 lost, text a context was there before the recording
// Expect: stderr libprof: graphs that kernels launch are not timed: a context was there before the recording
#include "tests/sim/sim_program.h"

#include <cudaProfiler.h>

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("body");
  const CUstream stream = sim_program::make_stream(), second = sim_program::make_stream();
  SIM_CHECK(cuProfilerStart());
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  SIM_CHECK(sim_program::launch(function, stream));
  CUgraph graph;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec;
  SIM_CHECK(cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
  SIM_CHECK(cuGraphUpload(exec, stream));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  sim_launch_from_device(exec, second);
  SIM_CHECK(cuCtxSynchronize());
  SIM_CHECK(cuProfilerStop());
}
