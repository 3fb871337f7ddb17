// A library whose own puts comes before libc's (see rtld_next.cpp). It is linked before libc, so RTLD_NEXT from here is
// libc. Seen from libprof.so, which the loader puts first, RTLD_NEXT would be this very function.
#include <dlfcn.h>
#include <unistd.h>

#define SHOWN extern "C" __attribute__((visibility("default")))
SHOWN int puts(const char* text) {
  const auto next = reinterpret_cast<int (*)(const char*)>(dlsym(RTLD_NEXT, "puts"));
  if (next == nullptr || next == &puts) _exit(7);
  if (write(1, "wrapped: ", 9) != 9) _exit(8);
  return next(text);
}
SHOWN int wrapped_puts(const char* text) { return puts(text); }
