// A program that can load the library is recorded, however it is started: every exec function and posix_spawn function
// passes its arguments and its environment on.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: stderr empty
// Expect: stdout all
// Expect: logs 18
// Expect: log 1: 1 kernel_launch, whole, 0 lost
// Expect: log 9: 1 kernel_launch, whole, 0 lost
// Expect: log 18: 1 kernel_launch, whole, 0 lost
#include "tests/e2e/exec_forms.h"
#include "tests/sim/sim_program.h"

#include <cstdio>

int main(int argc, char** argv) {
  if (argc > 1) {
    sim_program::make_context();
    SIM_CHECK(sim_program::launch(sim_program::kernel("child")));
    return argc == 2 ? 7 : 8;
  }
  int right = 0;
  exec_forms::start_each(argv[0], [&](const char* form, int status) {
    if (status == 7) {
      ++right;
    } else {
      std::fprintf(stderr, "%s: %d\n", form, status);
    }
  });
  if (right == exec_forms::kCount) std::puts("all");
}
