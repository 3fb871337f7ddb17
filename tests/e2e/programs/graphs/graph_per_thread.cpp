// A capture of the per-thread default stream, identified by 0 as in programs built for it: its launches are nodes, not
// launches.
// Expect: status 0
// Expect: log 1: 2 graph_node, 1 graph_launch, whole, 0 lost
// Expect: report graph-nodes: ,kernel,1,.*,cuLaunchKernel,[0-9]+,[0-9]+,,first$
// Expect: trace: launches 3, with GPU time 1 \(captured into a graph 2\); GPU operations 2, with launch 2
#include "tests/sim/sim_program.h"

extern "C" {
CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode);
CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph* graph);
CUresult cuLaunchKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                             void**, void**);
CUresult cuMemsetD8Async_ptsz(CUdeviceptr memory, unsigned char value, size_t count, CUstream stream);
CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream);
}

int main() {
  sim_program::make_context();
  const CUdeviceptr memory = sim_program::allocate(4096);
  const CUfunction first = sim_program::kernel("first");
  SIM_CHECK(cuStreamBeginCapture_v2_ptsz(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
  SIM_CHECK(cuLaunchKernel_ptsz(first, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
  SIM_CHECK(cuMemsetD8Async_ptsz(memory, 1, 4096, nullptr));
  CUgraph graph;
  SIM_CHECK(cuStreamEndCapture_ptsz(nullptr, &graph));
  CUgraphExec exec;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  SIM_CHECK(cuGraphLaunch_ptsz(exec, nullptr));
  SIM_CHECK(cuCtxSynchronize());
}
