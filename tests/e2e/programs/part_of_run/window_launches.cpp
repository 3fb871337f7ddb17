// PROF_START=launches:4 PROF_LAUNCHES=5: the fourth to the eighth launch of the process are recorded, of kernels and
// graphs, on any thread, and everything between them; PROF_LAUNCHES alone records the first ones. Events after the last
// one are recorded up to the next launch.
// Env: PROF_LAUNCHES=5
// Shell: PROF_START=launches:4 {run} && {run} && PROF_START=launches:100000 {run}
// Expect: status 0
// Expect: stderr empty
// Expect: logs 2
// Expect: log 1: 4 kernel_launch(inside), 4 kernel_launch, 1 graph_launch, 5 kernel_run, 1 api_call(cuCtxSynchronize), whole, 0 lost
// Expect: log 1: text meta key="recording_ended" value="PROF_LAUNCHES"
// Expect: log 2: 3 kernel_launch(before), 2 kernel_launch(inside), 5 kernel_launch, no graph_launch, whole, 0 lost
#include "tests/sim/sim_program.h"

#include <thread>

using namespace sim_program;

int main() {
  const CUcontext context = make_context();
  const CUfunction before = kernel("before"), inside = kernel("inside"), after = kernel("after");
  const CUstream stream = make_stream();
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  CUgraph graph = nullptr;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  CUDA_KERNEL_NODE_PARAMS node{};
  node.func = before;
  node.gridDimX = node.gridDimY = node.gridDimZ = node.blockDimX = node.blockDimY = node.blockDimZ = 1;
  CUgraphNode added = nullptr;
  SIM_CHECK(cuGraphAddKernelNode(&added, graph, nullptr, 0, &node));
  CUgraphExec exec = nullptr;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));

  for (int i = 0; i < 3; ++i) SIM_CHECK(launch(before, stream));
  SIM_CHECK(launch(inside));
  std::thread([&] {
    SIM_CHECK(cuCtxSetCurrent(context));
    SIM_CHECK(launch(inside, stream));
  }).join();
  SIM_CHECK(cuGraphLaunch(exec, stream));
  for (int i = 0; i < 2; ++i) SIM_CHECK(launch(inside));
  SIM_CHECK(cuCtxSynchronize());
  for (int i = 0; i < 1000; ++i) SIM_CHECK(launch(after));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuCtxSynchronize());
}
