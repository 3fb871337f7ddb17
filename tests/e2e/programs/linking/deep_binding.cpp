// A library opened with RTLD_DEEPBIND prefers what it is linked with to libprof.so. Its launches are recorded, whether
// it calls the driver itself or finds it by dlsym.
// Env: PROF_GPU=off SHIM={shim}
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 15 kernel_launch(kernel), whole, 0 lost
// Expect: report gpu-trace: coverage: launches 15, with GPU time 0 .GPU times off 15.; GPU operations 0, with launch 0; lost records 0$
#include "tests/sim/sim_program.h"

#include <dlfcn.h>

#include <cstdlib>

int main() {
  sim_program::make_context();
  const CUfunction kernel = sim_program::kernel("kernel");
  for (int i = 0; i < 5; ++i) SIM_CHECK(sim_program::launch(kernel));
  void* const library = dlopen(getenv("SHIM"), RTLD_NOW | RTLD_DEEPBIND);
  if (library == nullptr) return 40;
  using Launch = int (*)(CUfunction);
  const auto linked = reinterpret_cast<Launch>(dlsym(library, "launch_linked"));
  const auto found = reinterpret_cast<Launch>(dlsym(library, "launch_found"));
  for (int i = 0; i < 5; ++i) {
    if (linked(kernel) != 0 || found(kernel) != 0) return 41;
  }
  SIM_CHECK(cuCtxSynchronize());
}
