// Stream capture in each mode: a forked stream that is joined again, a copy, a fill and a host function, and a graph
// launched into a capture. Every replayed operation names the call, the thread and the NVTX range that captured it.
// Expect: status 0
// Expect: log 1: 17 graph_node, 0 graph_run, whole, 0 lost, counter graph_nodes_unidentified 0
// Expect: report graph-nodes: ,kernel,2,.*,cuLaunchKernel,[0-9]+,[0-9]+,build/global,first$
// Expect: report graph-nodes: ,kernel,2,.*,cuLaunchKernel,[0-9]+,[0-9]+,build/global/fork,second$
// Expect: report graph-nodes: 3 x ,memcpy,2,.*,cuMemcpyHtoDAsync,[0-9]+,[0-9]+,build/(global|thread|relaxed),
// Expect: report graph-nodes: 3 x ,memset,2,.*,cuMemsetD8Async,[0-9]+,[0-9]+,build/(global|thread|relaxed),
// Expect: report graph-nodes: 3 x ,kernel,2,.*,cuLaunchKernel,[0-9]+,[0-9]+,build/(global|thread|relaxed),first$
// Expect: report graph-nodes: 4 x ,host,,,,,,cuLaunchHostFunc,[0-9]+,[0-9]+,build/(global|thread|relaxed),
// Expect: report graph-nodes: ,kernel,1,.*,cuLaunchKernelEx,[0-9]+,[0-9]+,outer,last$
// Expect: report graph-nodes: ,kernel,1,.*,cuLaunchKernel,[0-9]+,[0-9]+,build/relaxed,first$
// Expect: report cuda-graphs: 3 x ,2,1,1,1,0,2,[0-9]+,8,[0-9]+,[0-9]+,8,[0-9]+,cuGraphLaunch,replay$
// Expect: report cuda-graphs: 0 x captured before recording
// Expect: trace: 7 x "name":"first".*"captured by":"cuLaunchKernel".*"captured nvtx path":"build/
// Expect: trace: 2 x "name":"second".*"graph node id":[0-9]+.*"captured on thread":[0-9]+,"captured at \(us\)":[0-9.]+,"captured nvtx path":"build/global/fork"
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExt.h>

static void host(void*) {}

int main() {
  sim_program::make_context();
  const CUfunction first = sim_program::kernel("first"), second = sim_program::kernel("second");
  const CUstream stream = sim_program::make_stream(), fork = sim_program::make_stream();
  const CUdeviceptr memory = sim_program::allocate(4096);
  static char bytes[4096];
  CUevent forked, joined;
  SIM_CHECK(cuEventCreate(&forked, CU_EVENT_DISABLE_TIMING));
  SIM_CHECK(cuEventCreate(&joined, CU_EVENT_DISABLE_TIMING));
  const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                       CU_STREAM_CAPTURE_MODE_RELAXED};
  const char* const names[] = {"global", "thread", "relaxed"};
  CUgraphExec execs[3];
  nvtxRangePushA("build");
  for (int i = 0; i < 3; ++i) {
    nvtxRangePushA(names[i]);
    SIM_CHECK(cuStreamBeginCapture(stream, modes[i]));
    SIM_CHECK(sim_program::launch(first, stream));
    SIM_CHECK(cuEventRecord(forked, stream));
    SIM_CHECK(cuStreamWaitEvent(fork, forked, 0));
    nvtxRangePushA("fork");
    SIM_CHECK(sim_program::launch(second, fork));
    nvtxRangePop();
    SIM_CHECK(cuEventRecord(joined, fork));
    SIM_CHECK(cuMemcpyHtoDAsync(memory, bytes, sizeof bytes, stream));
    SIM_CHECK(cuMemsetD8Async(memory, 1, 4096, stream));
    SIM_CHECK(cuStreamWaitEvent(stream, joined, 0));
    SIM_CHECK(cuLaunchHostFunc(stream, host, nullptr));
    CUgraph graph;
    SIM_CHECK(cuStreamEndCapture(stream, &graph));
    SIM_CHECK(cuGraphInstantiate(&execs[i], graph, 0));
    SIM_CHECK(cuGraphDestroy(graph));
    nvtxRangePop();
  }
  nvtxRangePop();
  nvtxRangePushA("replay");
  for (const CUgraphExec exec : execs) {
    SIM_CHECK(cuGraphLaunch(exec, stream));
    SIM_CHECK(cuGraphLaunch(exec, stream));
  }
  nvtxRangePop();
  nvtxRangePushA("outer");
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  SIM_CHECK(cuGraphLaunch(execs[2], stream));
  CUlaunchAttribute dependent{};  // the driver supports fewer queries for such a node
  dependent.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  dependent.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream, config.attrs = &dependent, config.numAttrs = 1;
  SIM_CHECK(cuLaunchKernelEx(&config, sim_program::kernel("last"), nullptr, nullptr));
  CUgraph outer;
  SIM_CHECK(cuStreamEndCapture(stream, &outer));
  CUgraphExec exec;
  SIM_CHECK(cuGraphInstantiate(&exec, outer, 0));
  nvtxRangePop();
  SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
}
