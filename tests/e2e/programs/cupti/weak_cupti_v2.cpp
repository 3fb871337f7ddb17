// A program that looks whether CUPTI has the subscriber-scoped API, by a weak reference and by dlsym: libprof.so must
// not make it appear.
// Expect: status 0
// Expect: log 1: 1 kernel_launch, 1 kernel_run
// Expect: stderr empty
#include "tests/sim/sim_program.h"

#include <dlfcn.h>

extern "C" __attribute__((weak)) int cuptiActivityRegisterCallbacks_v2(void*, void*, void*);
extern "C" __attribute__((weak)) int cuptiActivityEnable_v2(void*, int, void*);

int main() {
  sim_program::make_context();
  SIM_CHECK(sim_program::launch(sim_program::kernel("kernel")));
  SIM_CHECK(cuCtxSynchronize());
  if (cuptiActivityRegisterCallbacks_v2 != nullptr || cuptiActivityEnable_v2 != nullptr) return 1;
  if (dlsym(RTLD_DEFAULT, "cuptiActivityEnable_v2") != nullptr) return 2;
  if (dlsym(RTLD_NEXT, "cuptiActivityEnable_v2") != nullptr) return 3;
  return 0;
}
