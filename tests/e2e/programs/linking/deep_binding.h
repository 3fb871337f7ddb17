// The programs deep_binding*.cpp: launches of a program and of a library that is opened with RTLD_DEEPBIND.
#pragma once

#include "tests/sim/sim_program.h"

#include <dlfcn.h>

#include <cstdlib>

namespace deep_binding {

// 15 launches of "kernel": 5 of the program, 10 of the library. `binding`: RTLD_NOW or RTLD_LAZY.
inline int run(int binding) {
  sim_program::make_context();
  const CUfunction kernel = sim_program::kernel("kernel");
  for (int i = 0; i < 5; ++i) SIM_CHECK(sim_program::launch(kernel));
  void* const library = dlopen(getenv("SHIM"), binding | RTLD_DEEPBIND);
  if (library == nullptr) return 40;
  using Launch = int (*)(CUfunction);
  const auto linked = reinterpret_cast<Launch>(dlsym(library, "launch_linked"));
  const auto found = reinterpret_cast<Launch>(dlsym(library, "launch_found"));
  for (int i = 0; i < 5; ++i) {
    if (linked(kernel) != 0 || found(kernel) != 0) return 41;
  }
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}

}  // namespace deep_binding
