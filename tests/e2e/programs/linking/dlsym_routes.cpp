// The driver is reached through dlopen: by dlsym, by both forms of cuGetProcAddress, and by the cuGetProcAddress that
// these return, as cudart does it. Each route launches once; per-thread variants use the per-thread stream.
// Env: PROF_GPU=off
// Link: none
// Expect: status 0
// Expect: log 1: 6 kernel_launch(routed), 6 kernel_launch, 0 lost, text type=1
// Expect: log 1: counter unhooked_launch_api 0
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

using Launch = decltype(&cuLaunchKernel);
static CUfunction function;
static void use(void* address) {
  if (address == nullptr) exit(50);
  if (reinterpret_cast<Launch>(address)(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr) != CUDA_SUCCESS)
    exit(51);
}

int main() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return 40;
#define GET(name, type) reinterpret_cast<type>(dlsym(driver, #name))
  using Old = CUresult (*)(const char*, void**, int, cuuint64_t);
  using New = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  GET(cuInit, CUresult(*)(unsigned))(0);
  CUcontext context;
  GET(cuDevicePrimaryCtxRetain, CUresult(*)(CUcontext*, CUdevice))(&context, 0);
  GET(cuCtxSetCurrent, CUresult(*)(CUcontext))(context);
  CUmodule module;
  GET(cuModuleLoadData, CUresult(*)(CUmodule*, const void*))(&module, "image");
  GET(cuModuleGetFunction, CUresult(*)(CUfunction*, CUmodule, const char*))(&function, module, "routed");
  use(dlsym(driver, "cuLaunchKernel"));
  const Old old = GET(cuGetProcAddress, Old);
  const New fresh = GET(cuGetProcAddress_v2, New);
  void* found = nullptr;
  old("cuLaunchKernel", &found, 11030, 0), use(found);
  fresh("cuLaunchKernel", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr), use(found);
  fresh("cuLaunchKernel", &found, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr), use(found);
  void* itself = nullptr;
  fresh("cuGetProcAddress", &itself, 11030, 0, nullptr);
  reinterpret_cast<Old>(itself)("cuLaunchKernel", &found, 7000, 0), use(found);
  fresh("cuGetProcAddress", &itself, 12000, 0, nullptr);
  reinterpret_cast<New>(itself)("cuLaunchKernel", &found, 12000, 0, nullptr), use(found);
  if (dlsym(driver, "cuNoSuchFunction") != nullptr) return 52;
  return 0;
}
