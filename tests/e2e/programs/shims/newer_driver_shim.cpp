// The driver of newer_driver.cpp, with functions added in CUDA 13.1 and 13.2. It does not have libcuda's soname, so its
// functions are recognised by their names.
#include <cstddef>
#include <cstdint>

#define SHOWN extern "C" __attribute__((visibility("default")))
SHOWN int cuInit(unsigned) { return 0; }
SHOWN int cuMemcpyWithAttributesAsync(uint64_t to, uint64_t from, size_t size, void*, void*) {
  return to == 1 && from == 2 && size == 12345 ? 0 : 1;
}
SHOWN int cuMemcpyWithAttributesAsync_ptsz(uint64_t to, uint64_t from, size_t size, void*, void*) {
  return to == 1 && from == 2 && size == 777 ? 0 : 1;
}
SHOWN int cuLaunchHostFunc_v2(void*, void (*)(void*), void*, unsigned mode) { return mode == 3 ? 719 : 1; }
