// 10,000 threads of one launch each: all recorded, in a log that stays small.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: log 1: 10000 kernel_launch(kernel), whole, 0 lost, size < 100000000
#include "tests/sim/sim_program.h"

#include <thread>

int main() {
  const CUcontext context = sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 10000; ++i) {
    std::thread([=] {
      SIM_CHECK(cuCtxSetCurrent(context));
      SIM_CHECK(sim_program::launch(function));
    }).join();
  }
}
