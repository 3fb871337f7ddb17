// Launches that no hook saw are counted by CUPTI's records, with the reason: a library opened with RTLD_DEEPBIND
// launches in its constructor.
// Env: SHIM={shim}
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 5 kernel_launch, 12 kernel_run, 1 fill_run, whole, 0 lost
// Expect: report gpu-trace: coverage: launches 5, with GPU time 5; GPU operations 13, with launch 5, unlinked 8; lost records 0; launches that no hook saw 8 .opened with RTLD_DEEPBIND: .*unseen_launches_shim.so.
#include "tests/sim/sim_program.h"

#include <dlfcn.h>

#include <cstdlib>

int main() {
  sim_program::make_context();
  const CUfunction kernel = sim_program::kernel("kernel");
  for (int i = 0; i < 5; ++i) SIM_CHECK(sim_program::launch(kernel));
  void* const library = dlopen(getenv("SHIM"), RTLD_NOW | RTLD_DEEPBIND);
  if (library == nullptr || dlsym(library, "anything") == nullptr) return 40;
  SIM_CHECK(cuCtxSynchronize());
}
