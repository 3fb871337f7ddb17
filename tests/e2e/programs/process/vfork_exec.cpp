// A vfork child shares the parent's memory: none of its calls may be in the parent's log, and exec starts a clean
// process. A child that calls exit runs the exit handlers in the parent's memory: the recording goes on.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: logs 1
// Expect: log 1: 20 kernel_launch(parent), whole, 0 lost
#include "tests/sim/sim_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("parent");
  for (int i = 0; i < 20; ++i) {
    SIM_CHECK(sim_program::launch(function));
    const pid_t child = vfork();
    if (child == 0) {
      if (i == 10) quick_exit(0);
      execl("/bin/true", "true", nullptr);
      _exit(9);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) return 1;
  }
  return 0;
}
