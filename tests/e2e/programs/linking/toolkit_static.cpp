// The toolkit version of a CUDA runtime that is part of the program: at least the newest version for which it requested
// a function from the driver. Values that are no version of CUDA do not count, and later requests are added.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: log 1: text meta key="cuda_toolkit_at_least" value="11080", text meta key="cuda_toolkit_at_least" value="12040", whole
// Expect: trace: "cuda_toolkit_at_least":12040,"cuda_runtime_version":"unknown .static.","cuda_driver_version":13000
#include "tests/sim/sim_program.h"

static bool ask(const char* name, int version) {
  void* found = nullptr;
  return cuGetProcAddress(name, &found, version, 0, nullptr) == CUDA_SUCCESS && found != nullptr;
}

int main() {
  if (!ask("cuMemAlloc", 11080) || !ask("cuInit", 2000)) return 1;
  sim_program::make_context();
  if (!ask("cuMemFree", 12040)) return 2;
  ask("cuMemFree", 1000000);
  sim_program::make_stream();
  return 0;
}
