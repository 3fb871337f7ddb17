// PROF_OUTPUT names a folder that does not exist: it is created for its owner alone, below the folder in which the
// program was started, whatever the umask is and wherever the program goes. The log is readable for its owner alone.
// Env: PROF_GPU=off PROF_OUTPUT=new/logs
// Shell: umask 0777; {run} && stat -c '%a %n' new new/logs && stat -c %a new/logs/*.plog
// Expect: status 0
// Expect: stderr empty
// Expect: stdout 700 new
// Expect: stdout 700 new/logs
// Expect: stdout 600
// Expect: log 1: 3 kernel_launch, whole, 0 lost
#include "tests/sim/sim_program.h"

#include <unistd.h>

#include <cstdlib>

using namespace sim_program;

int main() {
  if (chdir("/") != 0) return 1;
  clearenv();
  make_context();
  for (int i = 0; i < 3; ++i) SIM_CHECK(launch(kernel("work")));
  SIM_CHECK(cuCtxSynchronize());
}
