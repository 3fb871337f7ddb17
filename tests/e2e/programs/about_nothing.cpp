// PROF_ABOUT keeps the command line, variables, paths and the host's name out of the log, all or some of them;
// everything else is there.
// Env: PROF_GPU=off RANK=hidden_rank
// Shell: has() { grep -a -q -e "$1" a.plog; }; PROF_ABOUT=none PROF_OUTPUT=a.plog {run} hidden_argument || exit 1; has hidden_argument && exit 2; has RANK= && exit 3; has programs/about_nothing && exit 4; has "key=host\|$(uname -n)" && exit 10; has visible_kernel || exit 5; rm a.plog; PROF_ABOUT=environment PROF_OUTPUT=a.plog {run} hidden_argument || exit 6; has hidden_argument && exit 7; has RANK=hidden_rank || exit 8; rm a.plog; PROF_OUTPUT=a.plog {run} hidden_argument; has hidden_argument && has RANK=hidden_rank && has "$(uname -n)" || exit 9
// Expect: status 0
// Expect: log 1: 1 kernel_launch(visible_kernel), whole, 0 lost
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  SIM_CHECK(sim_program::launch(sim_program::kernel("visible_kernel")));
}
