// Three kernels whose lines cubin_test.cpp knows. kernels.cubin is made of them as that file states.
#include "device.cuh"
__global__ void scale_kernel(float* values, float factor, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] = scaled(values[i], factor);
}

__global__ void sum_kernel(const float* values, float* sums, int count) {
  float sum = 0;
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    sum += rooted(values[i]);
  }
  sums[threadIdx.x] = sum;
}

extern "C" __global__ void plain_kernel(int* to) { to[threadIdx.x] = 1; }
