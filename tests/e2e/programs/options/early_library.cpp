// A library that launches in its constructor, which runs before libprof.so's: the first hook reads the options, so that
// PROF_START holds for these calls as well.
// Env: PROF_GPU=off PROF_START=profiler
// Link: driver shim
// Expect: status 0
// Expect: stderr empty
// Expect: logs 1
// Expect: log 1: 2 kernel_launch(inside), 2 kernel_launch, whole, 0 lost
#include "tests/sim/sim_program.h"

#include <cudaProfiler.h>

using namespace sim_program;

extern "C" int early_launches();

int main() {
  if (early_launches() != 3) return 1;
  SIM_CHECK(cuProfilerStart());
  const CUfunction inside = kernel("inside");
  for (int i = 0; i < 2; ++i) SIM_CHECK(launch(inside));
  SIM_CHECK(cuProfilerStop());
}
