// Functions with CUPTI's names that forward to a libcupti. Only this library calls them.
#include <dlfcn.h>

#include <cstdio>

extern "C" __attribute__((visibility("hidden"), noinline)) int cuptiActivityEnable(int kind) {
  using Function = int (*)(int);
  void* const library = dlopen("libcupti.so", RTLD_NOW);
  const auto function =
      library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, "cuptiActivityEnable"));
  const int result = function == nullptr ? 999 : function(kind);
  if (result == 39) std::puts("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED");
  return result;
}
extern "C" __attribute__((visibility("default"))) int start_profiler() { return cuptiActivityEnable(3); }
