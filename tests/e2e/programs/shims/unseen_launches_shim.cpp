// A library that launches while it is loaded, before anything could bind it to the hooks.
// Link: driver
#include <cuda.h>

#include <cstdlib>

__attribute__((constructor)) static void launch_at_once() {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  if (cuModuleLoadData(&module, "image") != CUDA_SUCCESS ||
      cuModuleGetFunction(&function, module, "early") != CUDA_SUCCESS)
    abort();
  for (int i = 0; i < 7; ++i) cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
  CUdeviceptr memory = 0;
  cuMemAlloc(&memory, 64);
  cuMemsetD8Async(memory, 0, 64, nullptr);
}
extern "C" __attribute__((visibility("default"))) int anything() { return 0; }
