// A green context for scripts/gpu-check: kernels in two streams of half of the GPU, and in the primary context. Prints
// "green" and the counts of the kernels, or the reason why there is no green context.
#include "check.cuh"

#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>

extern "C" __global__ void in_green(int* value) { atomicAdd(value, 1); }
extern "C" __global__ void in_primary(int* value) { atomicAdd(value, 1); }

// The program is not linked with libcuda.so. Returns false if the driver has no such function or refuses.
template <class... Args> static bool driver(const char* name, Args... args) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  const auto function = reinterpret_cast<CUresult (*)(Args...)>(library == nullptr ? nullptr : dlsym(library, name));
  const CUresult result = function == nullptr ? CUDA_ERROR_NOT_FOUND : function(args...);
  if (result != CUDA_SUCCESS) std::printf("no green contexts: %s, error %d\n", name, static_cast<int>(result));
  return result == CUDA_SUCCESS;
}

int main() {
  int* value;
  CHECK(cudaMalloc(&value, sizeof *value));
  CHECK(cudaMemset(value, 0, sizeof *value));
  CHECK(cudaDeviceSynchronize());
  CUdevResource all, half;
  unsigned groups = 1;
  CUdevResourceDesc description;
  CUgreenCtx green;
  if (!driver("cuDeviceGetDevResource", CUdevice{0}, &all, CU_DEV_RESOURCE_TYPE_SM) ||
      !driver("cuDevSmResourceSplitByCount", &half, &groups, &all, static_cast<CUdevResource*>(nullptr), 0u,
              all.sm.smCount / 2) ||
      !driver("cuDevResourceGenerateDesc", &description, &half, 1u) ||
      !driver("cuGreenCtxCreate", &green, description, CUdevice{0},
              static_cast<unsigned>(CU_GREEN_CTX_DEFAULT_STREAM)))
    return 0;
  CUstream streams[2];
  for (CUstream& stream : streams)
    if (!driver("cuGreenCtxStreamCreate", &stream, green, static_cast<unsigned>(CU_STREAM_NON_BLOCKING), 0)) return 1;
  for (int i = 0; i < 10; ++i) {
    for (const CUstream stream : streams) in_green<<<1, 1, 0, stream>>>(value);
    in_primary<<<1, 1>>>(value);
  }
  CHECK(cudaDeviceSynchronize());
  for (const CUstream stream : streams) CHECK(cudaStreamSynchronize(stream));
  int count = 0;
  CHECK(cudaMemcpy(&count, value, sizeof count, cudaMemcpyDeviceToHost));
  for (const CUstream stream : streams)
    if (!driver("cuStreamDestroy_v2", stream)) return 1;
  if (!driver("cuGreenCtxDestroy", green)) return 1;
  std::printf("green %d\n", count);
  return 0;
}
