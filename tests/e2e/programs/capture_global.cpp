// One thread captures in GLOBAL mode while another launches new kernels on its own stream: any driver call of libprof
// outside of a RELAXED section would invalidate the capture.
// Expect: status 0
// Expect: log 1: 200 kernel_launch(other), 50 kernel_launch(captured), whole
#include "tests/sim/sim_program.h"

#include <atomic>
#include <string>
#include <thread>

int main() {
  const CUcontext context = sim_program::make_context();
  const CUfunction captured = sim_program::kernel("captured"), other = sim_program::kernel("other");
  const CUstream stream = sim_program::make_stream(), second = sim_program::make_stream();
  std::atomic<int> step{0};
  std::thread thread([&] {
    SIM_CHECK(cuCtxSetCurrent(context));
    while (step.load() == 0) std::this_thread::yield();
    for (unsigned i = 0; i < 200; ++i)
      SIM_CHECK(sim_program::launch(other, second, 1 + i));  // new shapes, for which libprof queries names
    step = 2;
  });
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  step = 1;
  for (unsigned i = 0; i < 50; ++i) SIM_CHECK(sim_program::launch(captured, stream, 1 + i));
  while (step.load() != 2) std::this_thread::yield();
  CUgraph graph;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  thread.join();
  size_t nodes = 0;
  SIM_CHECK(cuGraphGetNodes(graph, nullptr, &nodes));
  return nodes == 50 ? 0 : 1;
}
