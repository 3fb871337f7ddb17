// A library that the program is linked with cleans up in its destructor, as libcudart does, and the loader runs it
// after the recorder's: its calls are in the log.
// Link: driver and shim
// Env: PROF_GPU=off
// Expect: status 0
// Expect: log 1: 1 kernel_launch(kernel), 1 api_call(cuCtxSynchronize), 1 api_call(cuModuleUnload), 0 lost, whole
#include "tests/sim/sim_program.h"

extern "C" void clean_up_at_the_end(CUmodule);

int main() {
  sim_program::make_context();
  CUmodule module = nullptr;
  SIM_CHECK(cuModuleLoadData(&module, "image"));
  CUfunction function = nullptr;
  SIM_CHECK(cuModuleGetFunction(&function, module, "kernel"));
  SIM_CHECK(sim_program::launch(function));
  clean_up_at_the_end(module);
  return 0;
}
