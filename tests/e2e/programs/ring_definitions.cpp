// The ring of a flight recorder has wrapped around. It still has names and a graph from before its horizon, and the
// thread and the place of the graph's capture (a function that the compiler may have inlined into its caller).
// Env: PROF_RING=1M PROF_STACKS=launch
// Expect: status 0
// Expect: log 1: whole, 0 lost, 2 resource_name, 2 graph_node, counter ring_unkept 0
// Expect: report nvtx-names: thread,capturer,
// Expect: report nvtx-names: stream,replays,0x
// Expect: report graph-nodes: 2 x ,kernel,1000,.*,[0-9]+,.*(capture_it|launch).*,(first|second)$
// Expect: report graph-nodes: 0 x captured before recording
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

static __attribute__((noinline)) CUgraphExec capture_it(CUcontext context, CUstream stream) {
  SIM_CHECK(cuCtxSetCurrent(context));
  nvtxNameOsThreadA(static_cast<uint32_t>(syscall(SYS_gettid)), "capturer");
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  SIM_CHECK(sim_program::launch(sim_program::kernel("first"), stream));
  SIM_CHECK(sim_program::launch(sim_program::kernel("second"), stream));
  CUgraph graph;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  SIM_CHECK(cuGraphDestroy(graph));
  return exec;
}

int main() {
  const CUcontext context = sim_program::make_context();
  sim_program::kernel("loads the module before anything is captured");
  const CUstream stream = sim_program::make_stream();
  nvtxNameCuStreamA(stream, "replays");
  CUgraphExec exec = nullptr;
  std::thread([&] { exec = capture_it(context, stream); }).join();
  for (int i = 0; i < 200'000; ++i) SIM_CHECK(sim_program::launch(sim_program::kernel("steady"), stream));
  for (int i = 0; i < 1000; ++i) SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
}
