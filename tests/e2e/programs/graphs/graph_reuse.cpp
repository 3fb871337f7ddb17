// Graphs are destroyed and made again: the driver returns the same handles, and each generation keeps its own code.
// Expect: status 0
// Expect: log 1: 20 graph, 20 graph_launch, whole, 0 lost
// Expect: report cuda-graphs: 20 x ,1,0,0,0,0,1,[0-9]+,1,[0-9]+,[0-9]+,1,[0-9]+,cuGraphLaunch,$
// Expect: report graph-nodes: 10 x ,kernel,1,.*,cuLaunchKernel,[0-9]+,[0-9]+,round [0-9]*[13579],odd$
// Expect: report graph-nodes: 10 x ,kernel,1,.*,cuLaunchKernel,[0-9]+,[0-9]+,round [0-9]*[02468],even$
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExt.h>

#include <string>

int main() {
  sim_program::make_context();
  sim_program::kernel("loads the module before anything is captured");
  const CUstream stream = sim_program::make_stream();
  for (int round = 0; round < 20; ++round) {
    nvtxRangePushA(("round " + std::to_string(round)).c_str());
    SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SIM_CHECK(sim_program::launch(sim_program::kernel(round % 2 == 0 ? "even" : "odd"), stream));
    CUgraph graph;
    SIM_CHECK(cuStreamEndCapture(stream, &graph));
    nvtxRangePop();
    CUgraphExec exec;
    SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
    SIM_CHECK(cuGraphLaunch(exec, stream));
    SIM_CHECK(cuStreamSynchronize(stream));
    SIM_CHECK(cuGraphExecDestroy(exec));
    SIM_CHECK(cuGraphDestroy(graph));
  }
}
