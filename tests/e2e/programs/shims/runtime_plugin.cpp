// A plugin of runtime_two.cpp: it has one kernel, known only to the CUDA runtime that it is linked with.
#include "tests/e2e/programs/linking/runtime_program.h"

static void stub() {}

extern "C" __attribute__((visibility("default"))) int run_plugin(const char* name, int launches) {
  const void* const kernel = runtime_program::kernel(stub, name);
  for (int i = 0; i < launches; ++i) {
    const cudaError_t result = cudaLaunchKernel(kernel, dim3(1), dim3(32), nullptr, 0, nullptr);
    if (result != cudaSuccess) return static_cast<int>(result);
  }
  void* memory = nullptr;
  return static_cast<int>(cudaMalloc(&memory, 64));
}
