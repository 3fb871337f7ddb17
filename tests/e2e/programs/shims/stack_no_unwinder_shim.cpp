// A loader that finds no libunwind.
#include <dlfcn.h>

#include <cstring>

extern "C" __attribute__((visibility("default"))) void* dlopen(const char* path, int flags) {
  using Dlopen = void* (*)(const char*, int);
  static const auto real = reinterpret_cast<Dlopen>(dlsym(RTLD_NEXT, "dlopen"));
  if (path != nullptr && std::strstr(path, "libunwind") != nullptr) return nullptr;
  return real(path, flags);
}
