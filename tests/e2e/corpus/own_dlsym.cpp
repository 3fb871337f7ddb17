// A program with its own dlsym, as sanitizers and game overlays have: what it finds, and how often it is called.
#include <dlfcn.h>
#include <cstdio>
#include <cstring>

#ifdef __aarch64__
#define FIRST_VERSION "GLIBC_2.17"  // of glibc's functions on this processor
#else
#define FIRST_VERSION "GLIBC_2.2.5"
#endif

static int asked = 0;

extern "C" __attribute__((visibility("default"))) void* dlsym(void* handle, const char* name) noexcept {
  using Function = void* (*)(void*, const char*);
  static Function const real = reinterpret_cast<Function>(dlvsym(RTLD_NEXT, "dlsym", FIRST_VERSION));
  ++asked;
  if (strcmp(name, "replaced") == 0) return &asked;
  return real(handle, name);
}

int main() {
  void* const libm = dlopen("libm.so.6", RTLD_NOW);
  using Cos = double (*)(double);
  const Cos cosine = reinterpret_cast<Cos>(dlsym(libm, "cos"));
  std::printf("cos %.3f, replaced %d, missing %d\n", cosine(1.0), dlsym(RTLD_DEFAULT, "replaced") == &asked,
              dlsym(RTLD_DEFAULT, "there_is_no_such_function") == nullptr);
  const int before = asked;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver != nullptr) {
    using Init = int (*)(unsigned);
    const Init init = reinterpret_cast<Init>(dlsym(driver, "cuInit"));
    std::printf("cuInit %d\n", init != nullptr ? init(0) : -1);
  }
  std::printf("asked %d then %d\n", before, asked);
}
