// Pools and a reset for scripts/gpu-check: memory from the default pool and from one of the program's pools, kernels on
// two streams; then the device is reset and used again.
#include "check.cuh"

#include <cstdio>

extern "C" __global__ void before_reset(int* value) { atomicAdd(value, 1); }
extern "C" __global__ void after_reset(int* value) { atomicAdd(value, 1); }

static int read_back(const int* value) {
  int count = 0;
  CHECK(cudaMemcpy(&count, value, sizeof count, cudaMemcpyDeviceToHost));
  return count;
}

int main() {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool;
  CHECK(cudaMemPoolCreate(&pool, &properties));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  int *kept, *from_default, *from_pool;
  CHECK(cudaMalloc(&kept, 1 << 20));  // until the reset
  CHECK(cudaMallocAsync(&from_default, 2 << 20, stream));
  CHECK(cudaMallocFromPoolAsync(&from_pool, 3 << 20, pool, stream));
  CHECK(cudaMemset(kept, 0, sizeof(int)));
  for (int i = 0; i < 10; ++i) {
    before_reset<<<1, 1>>>(kept);
    before_reset<<<1, 1, 0, stream>>>(kept);
  }
  CHECK(cudaFreeAsync(from_default, stream));
  CHECK(cudaFreeAsync(from_pool, stream));
  CHECK(cudaDeviceSynchronize());
  std::printf("before %d\n", read_back(kept));
  CHECK(cudaMemPoolDestroy(pool));
  CHECK(cudaDeviceReset());

  int* again;
  CHECK(cudaMalloc(&again, 4 << 20));
  CHECK(cudaMemset(again, 0, sizeof(int)));
  for (int i = 0; i < 10; ++i) after_reset<<<1, 1>>>(again);
  std::printf("after %d\n", read_back(again));
  CHECK(cudaFree(again));
  return 0;
}
