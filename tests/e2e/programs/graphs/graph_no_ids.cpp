// With a CUPTI that does not number graphs, nothing is guessed: the reports print "unknown" and a loss counter gives
// the reason.
// Env: SIM="cupti no_graph_ids"
// Expect: status 0
// Expect: log 1: 10 kernel_run, 5 graph_node, counter graph_nodes_unidentified 5, whole, 0 lost
// Expect: report graph-nodes: 5 x ,kernel,2,.*,unknown,,,,step$
// Expect: trace: 10 x "name":"step".*"captured by":"unknown"
// Expect: trace: graph_nodes_unidentified 5
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
