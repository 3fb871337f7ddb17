// A driver that refuses: the program gets exactly that result; the launch is recorded with it and not counted as
// outstanding.
// Env: PROF_GPU=off 'SIM=fault cuLaunchKernel 2 700; fault cuMemAlloc_v2 1 2'
// Expect: status 0
// Expect: log 1: 3 kernel_launch, text result=700, 1 alloc_call(cuMemAlloc_v2), text result=2, whole
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  SIM_CHECK(sim_program::launch(function));
  if (sim_program::launch(function) != static_cast<CUresult>(700)) return 1;
  CUdeviceptr memory = 0;
  if (cuMemAlloc(&memory, 100) != static_cast<CUresult>(2)) return 2;
  SIM_CHECK(sim_program::launch(function));
}
