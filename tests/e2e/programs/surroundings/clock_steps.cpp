// The log's clock is a function of the program, and it steps back: the log is whole, the step is counted and reported
// once.
// Link: driver shim
// Env: PROF_GPU=off PROF_CLOCK=stepping_clock
// Expect: status 0
// Expect: stderr once libprof: the clock of the log stepped back
// Expect: logs 1
// Expect: log 1: 20 kernel_launch, counter clock_steps 1, whole, 0 lost
#include "tests/sim/sim_program.h"

#include <unistd.h>

#include <cstdint>

using namespace sim_program;

extern "C" void step_back(uint64_t ns);

int main() {
  make_context();
  for (int i = 0; i < 10; ++i) SIM_CHECK(launch(kernel("before")));
  usleep(1'200'000);  // until an anchor was written
  step_back(100'000'000'000);
  for (int i = 0; i < 10; ++i) SIM_CHECK(launch(kernel("after")));
}
