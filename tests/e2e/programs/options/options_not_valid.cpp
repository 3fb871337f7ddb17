// Options that are not valid: one line each, also with a forked child that is recorded, and the default.
// Env: PROF_GPU=off PROF_CLOCK=no_such_function PROF_STACK_DEPTH=1000 PROF_BUDGET=2s
// Env: PROF_STACKS=launch,calls PROF_START=signal PROF_DELAY=soon
// Expect: status 0
// Expect: stderr once libprof: PROF_CLOCK is not valid, the program exports no function no_such_function
// Expect: stderr once libprof: PROF_STACK_DEPTH is not valid, expected 1..128; the default is used
// Expect: stderr once libprof: PROF_BUDGET is not valid, expected PERCENT|off; the default is used
// Expect: stderr once libprof: PROF_STACKS is not valid, expected launch,copy,alloc,sync|all|off; the default is used
// Expect: stderr once libprof: PROF_DELAY is not valid, expected SECONDS; the default is used
// Expect: stderr once libprof: PROF_START=signal needs PROF_SIGNAL=USR1 or USR2; the recording starts now
// Expect: logs 2
// Expect: log 1: 1 kernel_launch(parent), 1 kernel_launch, whole, 0 lost
// Expect: log 2: 0 kernel_launch, >=1 api_call(cuInit), whole, 0 lost
#include "tests/sim/sim_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

using namespace sim_program;

int main() {
  make_context();
  SIM_CHECK(launch(kernel("parent")));
  const pid_t child = fork();
  if (child == 0) {
    cuInit(0);  // the driver refuses in a forked child; the call is recorded
    exit(0);
  }
  int status = 1;
  return waitpid(child, &status, 0) == child ? status : 1;
}
