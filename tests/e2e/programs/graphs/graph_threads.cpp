// One graph is launched by several threads and captured by a worker with other ranges than the launching threads, while
// another thread launches on its own stream: queries about the capture invalidate nothing.
// Expect: status 0
// Expect: log 1: 20 graph_node, 12 graph_launch, 100 kernel_launch(other), whole, 0 lost
// Expect: report cuda-graphs: 4 x ,3,[0-9]+,60,[0-9]+,[0-9]+,60,[0-9]+,cuGraphLaunch,worker [0-3]$
// Expect: report graph-nodes: 20 x ,kernel,12,.*,cuLaunchKernel,[0-9]+,[0-9]+,capture,captured$
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

int main() {
  const CUcontext context = sim_program::make_context();
  const CUfunction captured = sim_program::kernel("captured"), other = sim_program::kernel("other");
  const CUstream stream = sim_program::make_stream(), second = sim_program::make_stream();
  std::atomic<int> step{0};
  std::thread busy([&] {
    SIM_CHECK(cuCtxSetCurrent(context));
    while (step.load() == 0) std::this_thread::yield();
    for (unsigned i = 0; i < 100; ++i) SIM_CHECK(sim_program::launch(other, second, 1 + i));
    step = 2;
  });
  CUgraphExec exec;
  std::thread([&] {
    SIM_CHECK(cuCtxSetCurrent(context));
    nvtxRangePushA("capture");
    SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    step = 1;
    for (unsigned i = 0; i < 20; ++i) SIM_CHECK(sim_program::launch(captured, stream, 1 + i));
    while (step.load() != 2) std::this_thread::yield();
    CUgraph graph;
    SIM_CHECK(cuStreamEndCapture(stream, &graph));
    SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
    nvtxRangePop();
  }).join();
  busy.join();
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&, w] {
      SIM_CHECK(cuCtxSetCurrent(context));
      nvtxRangePushA(("worker " + std::to_string(w)).c_str());
      for (int i = 0; i < 3; ++i) SIM_CHECK(cuGraphLaunch(exec, stream));
      nvtxRangePop();
    });
  }
  for (std::thread& worker : workers) worker.join();
  SIM_CHECK(cuStreamSynchronize(stream));
}
