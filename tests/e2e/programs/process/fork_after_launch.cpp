// Fork after a launch: the child starts its own log, the parent's stays whole.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: logs 2
// Expect: log 1: 3 kernel_launch(parent), 3 kernel_launch, 1 api_call(cuInit), whole, 0 lost
// Expect: log 2: 0 kernel_launch(parent), whole, 0 lost, >=1 api_call(cuInit)
#include "tests/sim/sim_program.h"

#include <sys/wait.h>
#include <unistd.h>

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("parent");
  SIM_CHECK(sim_program::launch(function));
  SIM_CHECK(sim_program::launch(function));
  const pid_t child = fork();
  if (child == 0) {
    cuInit(0);  // the driver refuses in a forked child; the call is recorded in any case
    return 0;
  }
  int status = 0;
  waitpid(child, &status, 0);
  SIM_CHECK(sim_program::launch(function));
  return status;
}
