// RTLD_NEXT means "after the caller": a library that wraps puts must get libc's function, not itself, through libprof's
// dlsym.
// Link: shim
// Expect: status 0
// Expect: stdout wrapped: hello
// Expect: logs 0
#include <cstdio>

extern "C" int wrapped_puts(const char*);
int main() {
  wrapped_puts("hello");
  return 0;
}
