// Sets with several passes: CUPTI runs each kernel alone as often as the set needs, and each launch has exactly its own
// values, also from two threads, after a launch that failed and after a graph. Graphs, which CUPTI does not replay, and
// kernels that PROF_COUNTERS_SKIP names are launched once.
// Env: PROF_COUNTERS=roofline SIM="kernel long 70000; kernel short 3000"
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 1 counter_set, launches accounted, 202 counter_values, 209 kernel_launch, 2 graph_launch, whole, 0 lost, text passes=5 replayed=1 chip="GH100"
// Expect: log 1: 100 counters(long gpu__time_duration=70000 dram__bytes_read=256 sm__ops_path_tensor_src_fp64=896)
// Expect: log 1: 100 counters(short gpu__time_duration=3000 dram__bytes_read=512), 2 counters(short gpu__time_duration=3000 dram__bytes_read=768)
// Expect: log 1: counter counters_captured 4, counter counters_skipped 4, counter counters_failed 0
#include "tests/sim/sim_program.h"

#include <thread>

using namespace sim_program;

static CUgraphExec capture(CUfunction function, CUstream stream, int times) {
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  for (int i = 0; i < times; ++i) SIM_CHECK(launch(function, stream));
  CUgraph graph;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  return exec;
}

int main() {
  const CUcontext context = make_context();
  const CUfunction kernels[] = {kernel("long"), kernel("short")};
  const CUfunction waits = kernel("_Z26ncclDevKernel_AllReduce_RN24ncclDevKernelArgsStorageE");
  std::thread threads[2];
  for (unsigned which = 0; which < 2; ++which) {
    threads[which] = std::thread([&, which] {
      SIM_CHECK(cuCtxSetCurrent(context));
      const CUstream stream = make_stream();
      for (unsigned i = 0; i < 100; ++i) SIM_CHECK(launch(kernels[which], stream, 1 + which));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const CUstream stream = make_stream();
  SIM_CHECK(launch(kernels[1], stream, 3));
  SIM_CHECK(launch(kernels[1], stream, 0) == CUDA_SUCCESS ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS);
  SIM_CHECK(launch(kernels[1], stream, 3));
  SIM_CHECK(launch(waits, stream));
  const CUgraphExec whole = capture(kernels[1], stream, 3);
  SIM_CHECK(cuGraphLaunch(whole, stream));
  const CUgraphExec waiting = capture(waits, stream, 1);
  SIM_CHECK(cuGraphLaunch(waiting, stream));
  SIM_CHECK(launch(waits, nullptr));
  SIM_CHECK(cuCtxSynchronize());
}
