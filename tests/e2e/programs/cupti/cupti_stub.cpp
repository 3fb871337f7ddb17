// A library has functions with CUPTI's names that open a libcupti and forward to it, as in TensorFlow and JAX, and
// contains CUPTI's result names itself. It is not a CUPTI, and GPU times are recorded.
// Env: PROF_CUPTI=
// Expect: status 0
// Expect: log 1: 3 kernel_launch(kernel), 3 kernel_run, counter cupti_unavailable 0
// Expect: stderr empty
#include "tests/sim/sim_program.h"

#include <dlfcn.h>

int main() {
  if (dlopen("libcupti_stub_shim.so", RTLD_NOW | RTLD_LOCAL) == nullptr) return 1;
  if (dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL) == nullptr) return 2;
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 3; ++i) SIM_CHECK(sim_program::launch(function));
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}
