// A plugin with its own CUPTI, statically linked and stripped of symbols, keeps it. libprof detects it before it calls
// CUPTI, and the message names the library.
// Env: PROF_CUPTI=
// Expect: status 0
// Expect: log 1: 3 kernel_launch(kernel), no kernel_run, counter cupti_unavailable 1, text libstatic_cupti_plugin_shim.so: a CUPTI of its own is linked into it
// Expect: stderr libprof: no GPU times: /
// Expect: stderr /libstatic_cupti_plugin_shim.so: a CUPTI of its own is linked into it, and two cannot share a process; the host side is recorded
#include "tests/sim/sim_program.h"

#include <dlfcn.h>

int main() {
  if (dlopen("libstatic_cupti_plugin_shim.so", RTLD_NOW | RTLD_LOCAL) == nullptr) return 1;
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 3; ++i) SIM_CHECK(sim_program::launch(function));
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}
