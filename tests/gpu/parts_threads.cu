// Six threads launch, three of them graphs as well, while cudaProfilerStart and cudaProfilerStop come and go: parts_threads PARTS SECONDS.
// Prints "parts N launches M", how many came and what was launched; status 100 if a call of the program failed.
#include "check.cuh"

#include <cuda_profiler_api.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

__global__ void small_kernel(int* sum) {
  if (threadIdx.x == 0) atomicAdd(sum, 1);
}

static std::atomic<bool> g_over{false};
static std::atomic<long> g_launches{0};

static void work(bool graphs) {
  cudaStream_t stream;
  int* device;
  char* host;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&device, 4096));
  CHECK(cudaMallocHost(reinterpret_cast<void**>(&host), 4096));
  cudaGraphExec_t graph = nullptr;
  if (graphs) {
    cudaGraph_t captured;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 4; ++i) small_kernel<<<1, 32, 0, stream>>>(device);
    CHECK(cudaMemsetAsync(device + 16, 0, 64, stream));
    CHECK(cudaStreamEndCapture(stream, &captured));
    CHECK(cudaGraphInstantiate(&graph, captured, 0));
  }
  while (!g_over) {
    for (int i = 0; i < 10; ++i) {
      small_kernel<<<1, 32, 0, stream>>>(device);
      CHECK(cudaGetLastError());
      if (i == 5) CHECK(cudaMemcpyAsync(device + 64, host, 64, cudaMemcpyHostToDevice, stream));
      if (i == 7) CHECK(cudaMemsetAsync(device + 64, 0, 64, stream));
      if (graphs && i % 4 == 0) CHECK(cudaGraphLaunch(graph, stream));
    }
    g_launches += 10;
    CHECK(cudaStreamSynchronize(stream));
  }
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int parts = std::atoi(argv[1]);
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(argv[2]));
  CHECK(cudaFree(nullptr));
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) threads.emplace_back(work, i % 2 == 0);
  int part = 0;
  for (; part < parts && std::chrono::steady_clock::now() < until; ++part) {
    CHECK(cudaProfilerStart());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(cudaProfilerStop());
  }
  g_over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(cudaDeviceSynchronize());
  std::printf("parts %d launches %ld\n", part, g_launches.load());
  return 0;
}
