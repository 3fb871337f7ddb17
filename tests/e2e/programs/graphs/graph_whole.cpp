// PROF_GRAPHS=whole: a launch of a graph is one operation with one time, and there are no records of its nodes. Where
// they were captured is still recorded.
// Env: PROF_GRAPHS=whole
// Expect: status 0
// Expect: log 1: 50 graph_run, 0 kernel_run, 50 graph_launch, 100 graph_node, whole, 0 lost, size < 60000
// Expect: report cuda-graphs: ,100,0,0,0,0,50,[0-9]+,50,[0-9]+,[0-9]+,0,[0-9]+,cuGraphLaunch,$
// Expect: report graph-nodes: 100 x ,kernel,,,,,,cuLaunchKernel,[0-9]+,[0-9]+,,step$
// Expect: report kernels: graph,.*CUDA graph [0-9]+|CUDA graph [0-9]+.*
// Expect: report breakdown: .
// Expect: trace: coverage.*launches 150, with GPU time 50 \(captured into a graph 100\); GPU operations 50, with launch 50; lost records 0
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  const CUfunction kernel = sim_program::kernel("step");
  const CUstream stream = sim_program::make_stream();
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  for (unsigned i = 0; i < 100; ++i) SIM_CHECK(sim_program::launch(kernel, stream, 1 + i % 7));
  CUgraph graph;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 50; ++i) SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
}
