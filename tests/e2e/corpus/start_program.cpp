// Starts a program in every way of libc and prints how each ended. The program is one that cannot load libprof.so, or
// a script of it; both are called without it in their environment.
#include "tests/e2e/exec_forms.h"

#include <cstdio>

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  for (int i = 1; i < argc; ++i) {
    std::printf("program %d\n", i);
    exec_forms::start_each(argv[i], [](const char* form, int status) { std::printf("%s: %d\n", form, status); });
  }
  return 0;
}
