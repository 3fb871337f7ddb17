// A program without a CUDA runtime that would use one: no way of looking it up may find one because of libprof.so.
// Link: none
// Expect: status 0
// Expect: logs 0
// Expect: stderr empty
#include <dlfcn.h>

extern "C" __attribute__((weak)) int cudaMalloc(void**, unsigned long);
extern "C" __attribute__((weak)) int cudaLaunchKernel();
extern "C" __attribute__((weak)) void** __cudaRegisterFatBinary(void*);

int main() {
  if (cudaMalloc != nullptr || cudaLaunchKernel != nullptr || __cudaRegisterFatBinary != nullptr) return 1;
  if (dlsym(RTLD_DEFAULT, "cudaMalloc") != nullptr || dlsym(RTLD_NEXT, "cudaMalloc") != nullptr) return 2;
  void* const self = dlopen(nullptr, RTLD_NOW);
  if (dlsym(self, "cudaMalloc") != nullptr || dlsym(self, "cudaLaunchKernel") != nullptr) return 3;
  return dlsym(RTLD_DEFAULT, "__cudaRegisterFatBinary") == nullptr ? 0 : 4;
}
