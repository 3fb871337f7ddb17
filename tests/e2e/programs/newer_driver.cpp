// A driver and a program are newer than the headers libprof.so was built with: a copy function that only they know is
// recorded with its bytes, a call with its result.
// Env: PROF_GPU=off
// Link: none
// Expect: status 0
// Expect: log 1: 1 memory_launch(cuMemcpyWithAttributesAsync), text bytes=12345, 1 memory_launch(cuMemcpyWithAttributesAsync_ptsz), text bytes=777
// Expect: log 1: 1 api_call(cuLaunchHostFunc_v2), text result=719, counter unhooked_launch_api 0, whole
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>

int main() {
  void* const driver = dlopen("libnewer_driver_shim.so", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return 1;
  using Init = int (*)(unsigned);
  using Copy = int (*)(uint64_t, uint64_t, size_t, void*, void*);
  using HostFunction = int (*)(void*, void (*)(void*), void*, unsigned);
  const auto init = reinterpret_cast<Init>(dlsym(driver, "cuInit"));
  const auto copy = reinterpret_cast<Copy>(dlsym(driver, "cuMemcpyWithAttributesAsync"));
  const auto copy_on_own = reinterpret_cast<Copy>(dlsym(driver, "cuMemcpyWithAttributesAsync_ptsz"));
  const auto host = reinterpret_cast<HostFunction>(dlsym(driver, "cuLaunchHostFunc_v2"));
  if (init == nullptr || copy == nullptr || copy_on_own == nullptr || host == nullptr) return 2;
  if (init(0) != 0) return 3;
  if (copy(1, 2, 12345, nullptr, nullptr) != 0 || copy_on_own(1, 2, 777, nullptr, nullptr) != 0) return 4;
  return host(nullptr, nullptr, nullptr, 3) == 719 ? 0 : 5;
}
