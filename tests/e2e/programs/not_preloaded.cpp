// libprof.so is opened by dlopen, not preloaded (as by NVTX_INJECTION64_PATH in a setuid program): it does nothing.
// Env: LD_PRELOAD=
// Expect: status 0
// Expect: logs 0
// Expect: stderr empty
#include "tests/sim/sim_program.h"

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

int main() {
  const char* const path = getenv("E2E_LIBPROF");
  setenv("NVTX_INJECTION64_PATH", path, 1);
  if (nvtxRangePushA("nobody") != NVTX_NO_PUSH_POP_TRACKING) return 1;
  void* const library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return 2;
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  const auto launch = reinterpret_cast<decltype(&cuLaunchKernel)>(dlsym(library, "cuLaunchKernel"));
  if (launch == nullptr) return 3;
  SIM_CHECK(launch(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  return 0;
}
