// A library with a driver of its own, if it is opened in another namespace.
// Link: driver
#include <cuda.h>

extern "C" __attribute__((visibility("default"))) int launch_elsewhere() {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
      cuCtxSetCurrent(context) != CUDA_SUCCESS)
    return 1;
  if (cuModuleLoadData(&module, "image") != CUDA_SUCCESS ||
      cuModuleGetFunction(&function, module, "elsewhere") != CUDA_SUCCESS)
    return 2;
  for (int i = 0; i < 7; ++i) cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
  return cuCtxSynchronize();
}
