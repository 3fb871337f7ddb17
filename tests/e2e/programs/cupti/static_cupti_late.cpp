// A plugin with its own CUPTI is loaded after the first launch, when the driver has accepted libprof's CUPTI. GPU times
// go on, and one line reports once whose profiler gets none. Other callers that request the driver's tables, such as
// CUDA runtimes, cause no message.
// Expect: status 0
// Expect: log 1: 4 kernel_launch(kernel), 4 kernel_run, counter second_cupti 1, text libstatic_cupti_late_shim.so
// Expect: stderr libprof: another CUPTI in the program (/
// Expect: stderr /libstatic_cupti_late_shim.so, linked into it) comes after the one that takes GPU times
// Expect: stderr PROF_GPU=off leaves CUPTI to it
#include "tests/sim/sim_program.h"

#include <dlfcn.h>

#include <cerrno>

static bool ask_for_tables() {
  const auto ask =
      reinterpret_cast<decltype(&cuGetExportTable)>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuGetExportTable"));
  const void* table = nullptr;
  const CUuuid none{};
  return ask != nullptr && ask(&table, &none) == CUDA_ERROR_NOT_FOUND;
}

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  SIM_CHECK(sim_program::launch(function));
  if (!ask_for_tables()) return 1;
  void* const plugin = dlopen("libstatic_cupti_late_shim.so", RTLD_NOW | RTLD_LOCAL);
  const auto start = plugin == nullptr ? nullptr : reinterpret_cast<int (*)()>(dlsym(plugin, "profiler_start"));
  if (start == nullptr) return 2;
  for (int i = 0; i < 3; ++i) {
    errno = 77;
    if (start() != 0) return 3;
    if (errno != 77) return 4;
    SIM_CHECK(sim_program::launch(function));
  }
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}
