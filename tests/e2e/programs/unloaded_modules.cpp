// A module is unloaded and another is loaded, perhaps with the same handles: each launch has its own kernel's name.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: log 1: 20 kernel_launch(first), 20 kernel_launch(second), whole, 0 lost, counter function_name_unknown 0
#include "tests/sim/sim_program.h"

#include <initializer_list>

int main() {
  sim_program::make_context();
  for (int round = 0; round < 20; ++round) {
    for (const char* const name : {"first", "second"}) {
      CUmodule module;
      CUfunction function;
      SIM_CHECK(cuModuleLoadData(&module, "image"));
      SIM_CHECK(cuModuleGetFunction(&function, module, name));
      SIM_CHECK(sim_program::launch(function));
      SIM_CHECK(cuCtxSynchronize());
      SIM_CHECK(cuModuleUnload(module));
    }
  }
}
