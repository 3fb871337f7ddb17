// A library that wraps a function of the driver is preloaded before libprof.so: it is called, and RTLD_NEXT finds the
// next function, which is recorded.
// Env: PROF_GPU=off
// Shell: LD_PRELOAD={shim}:$E2E_LIBPROF {plain}
// Expect: status 0
// Expect: stdout once wrapped
// Expect: logs 1
// Expect: log 1: 1 api_call(cuCtxSynchronize), whole, 0 lost
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  SIM_CHECK(cuCtxSynchronize());
}
