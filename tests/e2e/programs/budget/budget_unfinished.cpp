// A program launches more than the GPU finishes, and never synchronises. Operations from before a burst finish within
// it. They do not count as operations of the burst: each launch is timed or marked as one that may have no time.
// Env: PROF_BUDGET=5% SIM_CLOCK=real SIM="timed;kernel small 600000"
// Expect: status 0
// Expect: stderr empty
// Expect: report gpu-trace: coverage: launches \d+, with GPU time [1-9]\d* .GPU times off \d+.; GPU operations .*lost records 0; PROF_BUDGET=5%
#include "tests/sim/sim_program.h"

#include <unistd.h>

#include <chrono>

int main() {
  sim_program::make_context();
  const CUfunction small = sim_program::kernel("small");
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  while (std::chrono::steady_clock::now() < until) {
    SIM_CHECK(sim_program::launch(small));
    usleep(300);
  }
}
