// A C++ exception that passes through frames of the driver and of libprof.so arrives, and later launches are recorded.
// Env: PROF_GPU=off
// Link: none
// Expect: status 0
// Expect: log 1: 3 api_call(cuInit), counter guard_resets 2, whole
#include <cuda.h>
#include <dlfcn.h>

#include <stdexcept>

extern "C" __attribute__((visibility("default"))) void program_callback() {
  throw std::runtime_error("from the callback");
}

int main() {
  void* const driver = dlopen("libcallback_exception_shim.so", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return 1;
  const auto init = reinterpret_cast<CUresult (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto wait = reinterpret_cast<CUresult (*)(CUstream)>(dlsym(driver, "cuStreamSynchronize"));
  const auto set = reinterpret_cast<void (*)(void (*)())>(dlsym(driver, "set_callback"));
  if (init(0) != CUDA_SUCCESS) return 2;
  set(program_callback);
  try {
    wait(nullptr);
    return 3;
  } catch (const std::runtime_error&) {}
  if (init(0) != CUDA_SUCCESS) return 4;
  const auto launch = reinterpret_cast<decltype(&cuLaunchKernel)>(dlsym(driver, "cuLaunchKernel"));
  try {
    launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
    return 5;
  } catch (const std::runtime_error&) {}
  return init(0) == CUDA_SUCCESS ? 0 : 6;
}
