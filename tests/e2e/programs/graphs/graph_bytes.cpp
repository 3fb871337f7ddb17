// A graph of 500 kernels launched 200 times: at most 12 bytes of log for each replayed node, everything else included.
// Env: SIM="kernel step 1500"
// Expect: status 0
// Expect: log 1: 100000 kernel_run, 500 graph_node, 200 graph_launch, whole, 0 lost, size < 1200000
// Expect: report cuda-graphs: ,500,0,0,0,0,200,[0-9]+,100000,[0-9]+,[0-9]+,100000,
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  const CUfunction kernel = sim_program::kernel("step");
  const CUstream stream = sim_program::make_stream();
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  for (unsigned i = 0; i < 500; ++i) SIM_CHECK(sim_program::launch(kernel, stream, 1 + i % 7));
  CUgraph graph;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 200; ++i) SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
}
