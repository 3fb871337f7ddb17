// An auditor (LD_AUDIT) replaces the launch function that dlsym finds. Its function is called, and the launches are
// recorded. So are those that the program finds by cuGetProcAddress.
// Env: PROF_GPU=off LD_AUDIT={shim}
// Link: none
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 20 kernel_launch(kernel), whole, 0 lost
// Expect: report gpu-trace: coverage: launches 20, with GPU time 0 .*; lost records 0$
#include <cuda.h>
#include <dlfcn.h>

int main() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return 40;
#define GET(name) const auto its_##name = reinterpret_cast<decltype(&name)>(dlsym(driver, #name))
  GET(cuInit);
  GET(cuDevicePrimaryCtxRetain);
  GET(cuCtxSetCurrent);
  GET(cuModuleLoadData);
  GET(cuModuleGetFunction);
  GET(cuLaunchKernel);
  GET(cuCtxSynchronize);
  using Find = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  const auto find = reinterpret_cast<Find>(dlsym(driver, "cuGetProcAddress_v2"));
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  its_cuInit(0);
  its_cuDevicePrimaryCtxRetain(&context, 0);
  its_cuCtxSetCurrent(context);
  its_cuModuleLoadData(&module, "image");
  its_cuModuleGetFunction(&kernel, module, "kernel");
  for (int i = 0; i < 10; ++i) {
    if (its_cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr) != CUDA_SUCCESS) return 41;
  }
  void* launch = nullptr;
  if (find("cuLaunchKernel", &launch, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr) != CUDA_SUCCESS) return 42;
  for (int i = 0; i < 10; ++i) {
    if (reinterpret_cast<decltype(&cuLaunchKernel)>(launch)(kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr) !=
        CUDA_SUCCESS)
      return 43;
  }
  return its_cuCtxSynchronize() == CUDA_SUCCESS ? 0 : 44;
}
