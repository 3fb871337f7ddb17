// Shared by the GPU programs: a check of every CUDA call, and a kernel with a given duration.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                                   \
  do {                                                                                                                \
    const cudaError_t check_result = (call);                                                                          \
    if (check_result != cudaSuccess) {                                                                                \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(check_result));           \
      std::exit(100);                                                                                                 \
    }                                                                                                                 \
  } while (0)

// Nanoseconds of the GPU's own timer. Not cycles: clock rates change while a program warms up, and two runs must take
// the same time.
__device__ inline unsigned long long gpu_ns() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

__device__ inline void spin_for(unsigned long long ns) {
  const unsigned long long begin = gpu_ns();
  while (gpu_ns() - begin < ns) {
  }
}
