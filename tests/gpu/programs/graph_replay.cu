// The cost of a graph replay. Captures a graph of 500 kernels of about one microsecond, prints "ready", then executes
// lines of standard input until it ends:
//   loop REPLAYS   launches it so many times and prints one line of JSON, ns per replay: of the launch calls, until the
//                  GPU has finished, on the GPU
#include "check.cuh"

#include <chrono>
#include <cstdint>

// About a microsecond, whatever the GPU's clock rate is.
extern "C" __global__ void one_microsecond() {
  const long long begin = clock64();
  while (clock64() - begin < 1200) {
  }
}

namespace {

uint64_t now_ns() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

cudaGraphExec_t capture_kernels(cudaStream_t stream, int kernels) {
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kernels; ++i) one_microsecond<<<1, 32, 0, stream>>>();
  CHECK(cudaGetLastError());
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}

}  // namespace

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  const cudaGraphExec_t exec = capture_kernels(stream, 500);
  const auto replay = [&](long times, bool answer) {
    CHECK(cudaStreamSynchronize(stream));
    const uint64_t t0 = now_ns();
    CHECK(cudaEventRecord(begin, stream));
    for (long i = 0; i < times; ++i) CHECK(cudaGraphLaunch(exec, stream));
    const uint64_t t1 = now_ns();
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaStreamSynchronize(stream));
    const uint64_t t2 = now_ns();
    float gpu_ms = 0;
    CHECK(cudaEventElapsedTime(&gpu_ms, begin, end));
    const double n = static_cast<double>(times);
    if (!answer) return;
    std::printf("{\"replays\": %ld, \"host_ns\": %.3f, \"wall_ns\": %.3f, \"gpu_ns\": %.3f}\n", times,
                static_cast<double>(t1 - t0) / n, static_cast<double>(t2 - t0) / n, gpu_ms * 1e6 / n);
    std::fflush(stdout);
  };
  replay(200, false);
  std::puts("ready");
  std::fflush(stdout);
  char line[128];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    long times = 0;
    if (std::sscanf(line, "loop %ld", &times) != 1 || times <= 0) break;
    replay(times, true);
  }
  return 0;
}
