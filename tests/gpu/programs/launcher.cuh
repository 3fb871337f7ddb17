// Launches of the programs about parts, while parts start and stop: kernels, a copy, a fill, and from some threads a
// graph that is older than the first part. Used by parts_threads.cu and cupti_parts.cu, which differ in how a part
// starts and stops.
#pragma once

#include "check.cuh"

__global__ void small_kernel(int* sum) {
  if (threadIdx.x == 0 && sum != nullptr) atomicAdd(sum, 1);
}

// A thread's stream and the launches into it.
struct Launcher {
  static constexpr int kKernels = 10;  // per round, in addition to those of the graph
  cudaStream_t stream;
  cudaGraphExec_t graph = nullptr;
  int* device;
  char* host;

  explicit Launcher(bool graphs) {
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, 4096));
    CHECK(cudaMallocHost(reinterpret_cast<void**>(&host), 4096));
    if (!graphs) return;
    cudaGraph_t captured;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 4; ++i) small_kernel<<<1, 32, 0, stream>>>(device);
    CHECK(cudaMemsetAsync(device + 16, 0, 64, stream));
    CHECK(cudaStreamEndCapture(stream, &captured));
    CHECK(cudaGraphInstantiate(&graph, captured, 0));
  }

  // Launches once and waits. good(result, call) is called after every call and returns whether to go on.
  template <class Good> void round(Good good) {
    bool fine = true;
    for (int i = 0; i < kKernels && fine; ++i) {
      small_kernel<<<1, 32, 0, stream>>>(device);
      fine = good(cudaGetLastError(), "launch");
      if (i == 5) fine &= good(cudaMemcpyAsync(device + 64, host, 64, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
      if (i == 7) fine &= good(cudaMemsetAsync(device + 64, 0, 64, stream), "cudaMemsetAsync");
      if (graph != nullptr && i % 4 == 0) fine &= good(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
    }
    good(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
};
