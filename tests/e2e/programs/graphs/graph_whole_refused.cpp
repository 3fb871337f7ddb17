// With a CUPTI that cannot time whole graphs, each node is timed, and a message reports it.
// Env: PROF_GRAPHS=whole SIM="cupti no_graph_trace"
// Expect: status 0
// Expect: stderr CUPTI cannot time whole graphs
// Expect: log 1: 0 graph_run, 10 kernel_run, text whole graphs were refused, whole, 0 lost
#include "tests/sim/sim_program.h"

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
  for (int i = 0; i < 2; ++i) SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
}
