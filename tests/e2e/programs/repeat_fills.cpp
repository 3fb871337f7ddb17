// A library clears a counter before its kernel, which takes items from it. Such a fill is repeated together with the
// kernel if it is directly before the launch, on its stream and by its thread. Fills on another stream, before another
// kernel or copy, or into a graph are not repeated. If the driver refuses a repeat, the repetition ends and a message
// reports which and why.
// Env: PROF_REPEAT_KERNEL=take_items:2=5 PROF_ASSUME_IDEMPOTENT=1
// Shell: {run} one && {run} two && {run} three && {run} elsewhere && {run} kernel && {run} copy && {run} graph && {run} thread && SIM='fault cuMemsetD8Async 5 700' {run} one
// Expect: status 0
// Expect: logs 9
// Expect: log 1: 8 kernel_launch(take_items), 8 memory_launch(cuMemsetD8Async bytes=4), 8 fill_run, 1 nvtx_push, counter launches_repeated 10, whole, 0 lost
// Expect: log 2: 8 kernel_launch(take_items), 8 memory_launch(cuMemsetD8Async bytes=4), 8 memory_launch(cuMemsetD32Async bytes=64), counter launches_repeated 15, whole, 0 lost
// Expect: log 3: 8 kernel_launch(take_items), 8 memory_launch(cuMemsetD8Async bytes=4), 8 memory_launch(cuMemsetD32Async bytes=64), 3 memory_launch(cuMemsetD2D16Async bytes=96), whole, 0 lost
// Expect: log 4: 8 kernel_launch(take_items), 3 memory_launch(cuMemsetD8Async bytes=4), counter launches_repeated 5, whole, 0 lost
// Expect: log 5: 8 kernel_launch(take_items), 3 kernel_launch(other), 3 memory_launch(cuMemsetD8Async bytes=4), counter launches_repeated 5, whole, 0 lost
// Expect: log 6: 8 kernel_launch(take_items), 3 memory_launch(cuMemsetD8Async bytes=4), 3 memory_launch(cuMemcpyDtoDAsync_v2 bytes=4), whole, 0 lost
// Expect: log 7: 8 kernel_launch(take_items), 3 memory_launch(cuMemsetD8Async bytes=4), counter launches_repeated 5, whole, 0 lost
// Expect: log 8: 8 kernel_launch(take_items), 3 memory_launch(cuMemsetD8Async bytes=4), counter launches_repeated 5, whole, 0 lost
// Expect: log 9: 5 kernel_launch(take_items), 6 memory_launch(cuMemsetD8Async bytes=4), 1 nvtx_push, 1 nvtx_pop, counter launches_repeated 4, whole, 0 lost
// Expect: stderr repeating take_items ended: the driver answered repetition 3 of 5 with error 700
#include "tests/sim/sim_program.h"

#include <string_view>
#include <thread>

using namespace sim_program;

int main(int argc, char** argv) {
  const std::string_view way = argc > 1 ? argv[1] : "one";
  const CUcontext context = make_context();
  const CUfunction take_items = kernel("take_items"), other = kernel("other");
  const CUstream stream = make_stream(), elsewhere = make_stream();
  const CUdeviceptr counter = allocate(256);
  const auto clear = [&](CUstream on) { SIM_CHECK(cuMemsetD8Async(counter, 0, 4, on)); };
  for (int i = 0; i < 3; ++i) {
    if (way == "three") SIM_CHECK(cuMemsetD2D16Async(counter, 32, 0, 16, 3, stream));
    if (way == "two" || way == "three") SIM_CHECK(cuMemsetD32Async(counter + 64, 1, 16, stream));
    if (way == "graph") {
      SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
      clear(stream);
      CUgraph graph = nullptr;
      SIM_CHECK(cuStreamEndCapture(stream, &graph));
    } else if (way == "thread") {
      std::thread([&] {
        SIM_CHECK(cuCtxSetCurrent(context));
        clear(stream);
      }).join();
    } else {
      clear(way == "elsewhere" ? elsewhere : stream);
    }
    if (way == "kernel") SIM_CHECK(launch(other, stream));
    if (way == "copy") SIM_CHECK(cuMemcpyDtoDAsync(counter + 128, counter, 4, stream));
    SIM_CHECK(launch(take_items, stream));
  }
  SIM_CHECK(cuCtxSynchronize());
}
