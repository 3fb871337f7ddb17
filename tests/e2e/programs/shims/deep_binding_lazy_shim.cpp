// A library that is linked with the driver, and that also reaches it as a static CUDA runtime does: by libc's dlopen
// and dlsym of its own scope.
// Link: driver
#include <cuda.h>
#include <dlfcn.h>

extern "C" __attribute__((visibility("default"))) int launch_linked(CUfunction function) {
  return cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
}

extern "C" __attribute__((visibility("default"))) int launch_found(CUfunction function) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  using Find = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  const auto find = reinterpret_cast<Find>(dlsym(driver, "cuGetProcAddress_v2"));
  void* launch = nullptr;
  if (find("cuLaunchKernel", &launch, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr) != CUDA_SUCCESS) return -1;
  return reinterpret_cast<decltype(&cuLaunchKernel)>(launch)(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
}
