// CUPTI refuses, and a library of the program contains another one, statically linked and stripped of symbols: the
// message names the library.
// Env: 'SIM=cupti enable_fails 39'
// Expect: status 0
// Expect: log 1: 1 kernel_launch(kernel), no kernel_run, counter cupti_unavailable 1
// Expect: stderr cuptiActivityEnable: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED; another CUPTI is linked into
// Expect: stderr /libstatic_cupti_library_shim.so; the host side is recorded
#include "tests/sim/sim_program.h"

#include <dlfcn.h>

int main() {
  if (dlopen("libstatic_cupti_library_shim.so", RTLD_NOW | RTLD_LOCAL) == nullptr) return 1;
  sim_program::make_context();
  SIM_CHECK(sim_program::launch(sim_program::kernel("kernel")));
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}
