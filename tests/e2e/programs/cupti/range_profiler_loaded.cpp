// In a program with a range profiler, known by the library that such profilers evaluate counters with, the helper
// thread does not flush: CUPTI could then wait for ever, and the program with it. The same program without that library
// has its GPU times when it is killed.
// Env: SIM_CLOCK=real SHIM={shim}
// Shell: {run} range_profiler; echo status $?; {run}; echo status $?
// Expect: status 0
// Expect: stdout status 137
// Expect: logs 2
// Expect: log 1: 20 kernel_launch(kernel), 0 kernel_run
// Expect: log 2: 20 kernel_launch(kernel), 20 kernel_run
#include "tests/sim/sim_program.h"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

int main(int argc, char**) {
  if (argc > 1 && dlopen(getenv("SHIM"), RTLD_NOW) == nullptr) return 40;
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 20; ++i) SIM_CHECK(sim_program::launch(function));
  SIM_CHECK(cuCtxSynchronize());
  usleep(1'500'000);  // six times PROF_FLUSH
  raise(SIGKILL);
}
