// The library of last_destructor.cpp.
#include <cuda.h>
#include <dlfcn.h>

static CUmodule left;

extern "C" __attribute__((visibility("default"))) void clean_up_at_the_end(CUmodule module) { left = module; }

__attribute__((destructor)) static void clean_up() {
  const auto synchronize = reinterpret_cast<CUresult (*)()>(dlsym(RTLD_DEFAULT, "cuCtxSynchronize"));
  const auto unload = reinterpret_cast<CUresult (*)(CUmodule)>(dlsym(RTLD_DEFAULT, "cuModuleUnload"));
  synchronize();
  unload(left);
}
