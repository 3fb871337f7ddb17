// The log is deleted while it is written: the program runs on, and there is no log.
// Env: PROF_GPU=off PROF_OUTPUT={dir}/a.plog
// Expect: status 0
// Expect: logs 0
// Expect: stdout went on
#include "tests/sim/sim_program.h"

#include <unistd.h>

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 1000; ++i) SIM_CHECK(sim_program::launch(function));
  if (unlink(getenv("PROF_OUTPUT")) != 0) return 1;
  for (int i = 0; i < 1'000'000; ++i) SIM_CHECK(sim_program::launch(function));
  std::printf("went on\n");
}
