// Copies, fills and allocations are recorded with bytes, streams and returned addresses.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: log 1: 1 memory_launch(cuMemcpyHtoD_v2), 1 memory_launch(cuMemcpyDtoHAsync_v2), 1 memory_launch(cuMemcpy2D_v2)
// Expect: log 1: 1 memory_launch(cuMemsetD32_v2), 1 memory_launch(cuMemsetD2D16_v2), text bytes=1111, text bytes=2222, whole, 0 lost
// Expect: log 1: text bytes=4000, text bytes=600, text bytes=800, 1 alloc_call(cuMemAlloc_v2), 2 alloc_call(cuMemFree_v2)
// Expect: log 1: 1 alloc_call(cuMemAllocAsync), 1 alloc_call(cuMemHostAlloc), 1 alloc_call(cuMemAllocPitch_v2), text context=1
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  const CUdeviceptr memory = sim_program::allocate(65536);
  const CUstream stream = sim_program::make_stream();
  static char host[65536];
  SIM_CHECK(cuMemcpyHtoD(memory, host, 1111));
  SIM_CHECK(cuMemcpyDtoHAsync(host, memory, 2222, stream));
  CUDA_MEMCPY2D shape{};
  shape.srcMemoryType = CU_MEMORYTYPE_HOST, shape.srcHost = host, shape.srcPitch = 100;
  shape.dstMemoryType = CU_MEMORYTYPE_DEVICE, shape.dstDevice = memory, shape.dstPitch = 100;
  shape.WidthInBytes = 60, shape.Height = 10;
  SIM_CHECK(cuMemcpy2D(&shape));
  SIM_CHECK(cuMemsetD32(memory, 7, 1000));
  SIM_CHECK(cuMemsetD2D16(memory, 100, 7, 40, 10));
  CUdeviceptr pitched, pooled;
  size_t pitch;
  SIM_CHECK(cuMemAllocPitch(&pitched, &pitch, 100, 10, 4));
  SIM_CHECK(cuMemAllocAsync(&pooled, 4096, stream));
  SIM_CHECK(cuMemFreeAsync(pooled, stream));
  void* pinned;
  SIM_CHECK(cuMemHostAlloc(&pinned, 4096, 0));
  SIM_CHECK(cuMemFreeHost(pinned));
  SIM_CHECK(cuMemFree(pitched));
  SIM_CHECK(cuMemFree(memory));
}
