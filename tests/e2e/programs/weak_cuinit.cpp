// A program with a weak cuInit and a weak ncclAllReduce, on a machine without a driver and NCCL: libprof.so must not
// define them, and must not write a log.
// Link: none
// Expect: status 0
// Expect: logs 0
// Expect: stderr empty
#include <dlfcn.h>

extern "C" __attribute__((weak)) int cuInit(unsigned);
extern "C" __attribute__((weak)) int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                                    unsigned, void*, void**, void**);

extern "C" __attribute__((weak)) int ncclAllReduce(const void*, void*, unsigned long, int, int, void*, void*);

int main() {
  if (cuInit != nullptr && cuInit(0) != 100) return 1;  // CUDA_ERROR_NO_DEVICE
  if (cuLaunchKernel != nullptr && cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) != 100)
    return 2;
  if (dlsym(RTLD_DEFAULT, "cuInit") != nullptr) return 3;
  if (dlsym(RTLD_NEXT, "cuLaunchKernel") != nullptr) return 4;
  void* const self = dlopen(nullptr, RTLD_NOW);
  if (dlsym(self, "cuInit") != nullptr) return 5;
  if (dlsym(RTLD_DEFAULT, "malloc") == nullptr || dlsym(self, "cu") != nullptr || dlsym(self, "c") != nullptr) return 6;
  if (ncclAllReduce != nullptr && ncclAllReduce(nullptr, nullptr, 0, 0, 0, nullptr, nullptr) == 0) return 7;
  if (dlsym(RTLD_DEFAULT, "ncclAllReduce") != nullptr || dlsym(self, "ncclAllReduce") != nullptr) return 8;
  return 0;
}
