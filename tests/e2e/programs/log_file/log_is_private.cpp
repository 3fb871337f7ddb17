// Only its owner can read the log, whatever the umask, and libprof never follows a link at the log's path.
// Env: PROF_GPU=off PROF_OUTPUT={dir}/trap.plog
// Shell: umask 0; ln -s {dir}/victim trap.plog; {run}; [ -e victim ] && echo followed; rm trap.plog; stat -c '%n is %a' trap-2.plog
// Expect: status 0
// Expect: stdout trap-2.plog is 600
// Expect: logs 1
// Expect: log 1: 1 kernel_launch(kernel), whole, 0 lost
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  SIM_CHECK(sim_program::launch(sim_program::kernel("kernel")));
}
