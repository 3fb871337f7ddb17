// The same as deep_binding for a library whose references are bound at their first call (RTLD_LAZY), with GPU times: no
// operation is without its launch.
// Env: SHIM={shim}
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 15 kernel_launch(kernel), whole, 0 lost
// Expect: report gpu-trace: coverage: launches 15, with GPU time 15; GPU operations 15, with launch 15; lost records 0
#include "tests/sim/sim_program.h"

#include <dlfcn.h>

#include <cstdlib>

int main() {
  sim_program::make_context();
  const CUfunction kernel = sim_program::kernel("kernel");
  for (int i = 0; i < 5; ++i) SIM_CHECK(sim_program::launch(kernel));
  void* const library = dlopen(getenv("SHIM"), RTLD_LAZY | RTLD_DEEPBIND);
  if (library == nullptr) return 40;
  using Launch = int (*)(CUfunction);
  const auto linked = reinterpret_cast<Launch>(dlsym(library, "launch_linked"));
  const auto found = reinterpret_cast<Launch>(dlsym(library, "launch_found"));
  for (int i = 0; i < 5; ++i) {
    if (linked(kernel) != 0 || found(kernel) != 0) return 41;
  }
  SIM_CHECK(cuCtxSynchronize());
}
