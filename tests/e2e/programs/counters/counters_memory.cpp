// PROF_COUNTERS=memory: each launch of two threads on two streams has the values of its own kernel, which depend on its
// time and threads, and so has a launch of a graph; captured launches have none. More launches than an image holds, and
// copies between them, change nothing. Kernels have no other GPU times.
// Env: PROF_COUNTERS=memory SIM="kernel long 70000; kernel short 3000; kernel node 5000"
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 1 counter_set, launches accounted, 2404 counter_values, 2408 kernel_launch, 2 graph_launch, 0 kernel_run, whole, 0 lost
// Expect: log 1: 600 counters(long gpu__time_duration=70000 dram__bytes_read=256 dram__bytes_write=128 lts__t_bytes=384)
// Expect: log 1: 600 counters(long gpu__time_duration=70000 dram__bytes_read=264), 600 counters(short gpu__time_duration=3000 dram__bytes_read=512)
// Expect: log 1: 600 counters(short gpu__time_duration=3000 dram__bytes_read=528), 2 counters(graph gpu__time_duration=25000 dram__bytes_read=2560)
// Expect: log 1: 1 counters(node gpu__time_duration=5000 dram__bytes_read=256), 1 counters(node gpu__time_duration=5000 dram__bytes_read=768)
// Expect: log 1: counter counters_captured 5, counter counters_failed 0, counter counters_unread 0, counter counters_skipped 0
// Expect: log 1: text gpu__time_duration.sum\ndram__bytes_read.sum\ndram__bytes_write.sum\nlts__t_bytes.sum, text passes=1 replayed=0 chip="GH100"
// Expect: log 1: text meta key="gpu_times" value="off: hardware counters are measured", text meta key="counters" value="on"
#include "tests/sim/sim_program.h"

#include <thread>

using namespace sim_program;

int main() {
  const CUcontext context = make_context();
  const CUfunction kernels[] = {kernel("long"), kernel("short")}, node = kernel("node");
  std::thread threads[2];
  for (unsigned which = 0; which < 2; ++which) {
    threads[which] = std::thread([&, which] {
      SIM_CHECK(cuCtxSetCurrent(context));
      const CUstream stream = make_stream();
      const CUdeviceptr memory = allocate(4096);
      for (unsigned i = 0; i < 1200; ++i) {
        SIM_CHECK(launch(kernels[which], i % 3 == 0 ? nullptr : stream, 1 + which, 32 + i % 2));
        if (i % 100 == 0) SIM_CHECK(cuMemsetD8Async(memory, 1, 4096, stream));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const CUstream stream = make_stream();
  SIM_CHECK(launch(node, stream));
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  for (int i = 0; i < 5; ++i) SIM_CHECK(launch(node, stream, 2));
  CUgraph graph;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(launch(node, stream, 3));
  SIM_CHECK(launch(node, stream, 0) == CUDA_SUCCESS ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS);
  SIM_CHECK(cuCtxSynchronize());
}
