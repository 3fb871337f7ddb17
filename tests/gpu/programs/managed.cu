// Managed memory for scripts/gpu-check: the CPU writes it, the GPU reads and writes it, the CPU reads it again.
#include "check.cuh"

#include <cstdio>

extern "C" __global__ void add_one(float* values, int count) {
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += static_cast<int>(gridDim.x * blockDim.x))
    values[i] += 1.0f;
}

int main() {
  constexpr int kCount = 16 << 20;  // 64 MiB
  float* values = nullptr;
  CHECK(cudaMallocManaged(&values, kCount * sizeof(float)));
  double sum = 0;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kCount; ++i) values[i] = static_cast<float>(round);
    add_one<<<256, 256>>>(values, kCount);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < kCount; ++i) sum += values[i];
  }
  std::printf("sum %.0f\n", sum);
  CHECK(cudaFree(values));
  return 0;
}
