// PROF_GRAPHS=whole with a recording of part of the run: with a real CUPTI, a graph that was instantiated before the
// recording would crash the program. So each node is timed, and a message reports it.
// Env: PROF_GRAPHS=whole PROF_START=profiler
// Expect: status 0
// Expect: stderr once whole graphs can be timed only where GPU times are taken from the start on
// Expect: log 1: 0 graph_run, 10 kernel_run, text whole graphs only from the start on, whole, 0 lost
#include "tests/sim/sim_program.h"

#include <cudaProfiler.h>

int main() {
  sim_program::make_context();
  const CUfunction kernel = sim_program::kernel("step");
  const CUstream stream = sim_program::make_stream();
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  for (unsigned i = 0; i < 5; ++i) SIM_CHECK(sim_program::launch(kernel, stream, 1 + i % 7));
  CUgraph graph;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuProfilerStart());
  for (int i = 0; i < 2; ++i) SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
  SIM_CHECK(cuProfilerStop());
}
