// A library opened with dlmopen has a driver of its own, which neither hooks nor CUPTI observe. The launches of the
// program are recorded, and the coverage line says what cannot be known and why.
// Env: SHIM={shim}
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 5 kernel_launch, 5 kernel_run, whole, 0 lost
// Expect: report gpu-trace: coverage: launches 5, with GPU time 5; GPU operations 5, with launch 5; lost records 0; launches that no hook saw: cannot be known .opened with dlmopen: a second libcuda.
#include "tests/sim/sim_program.h"

#include <dlfcn.h>

#include <cstdlib>

int main() {
  sim_program::make_context();
  const CUfunction kernel = sim_program::kernel("kernel");
  for (int i = 0; i < 5; ++i) SIM_CHECK(sim_program::launch(kernel));
  SIM_CHECK(cuCtxSynchronize());
  void* const library = dlmopen(LM_ID_NEWLM, getenv("SHIM"), RTLD_NOW);
  if (library == nullptr) return 40;
  return reinterpret_cast<int (*)()>(dlsym(library, "launch_elsewhere"))();
}
