// PROF_CHILDREN=0: this process is recorded, its children are not, and the library's name is removed from the
// environment.
// Env: PROF_GPU=off PROF_CHILDREN=0
// Expect: status 0
// Expect: logs 1
// Expect: log 1: 2 kernel_launch(parent), 2 kernel_launch, 1 api_call(cuInit), whole, 0 lost
#include "tests/sim/sim_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

int main(int argc, char** argv) {
  const char* const preload = getenv("LD_PRELOAD");
  if (preload != nullptr && strstr(preload, "libprof") != nullptr) return 3;
  sim_program::make_context();
  const CUfunction function = sim_program::kernel(argc > 1 ? "child" : "parent");
  SIM_CHECK(sim_program::launch(function));
  if (argc > 1) return 0;
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 100; ++i)
      cuInit(0);  // the driver refuses in a forked child; the call would be recorded in any case
    return 0;
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0 || system((std::string(argv[0]) + " again").c_str()) != 0) return 4;
  SIM_CHECK(sim_program::launch(function));
  return 0;
}
