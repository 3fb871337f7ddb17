// Names of kernels: templates are demangled and distinguished, extern "C" and Triton's names are unchanged, and a
// kernel keeps its name if its module is unloaded before its GPU record arrives.
// Expect: status 0
// Expect: log 1: 16 kernel_launch, 16 kernel_run, whole, 0 lost, counter function_name_unknown 0
// Expect: report gpu-trace --names short: 3 x ,scale#1,
// Expect: report gpu-trace --names short: 3 x ,scale#2,
// Expect: report gpu-trace --names short: 3 x ,plain_c,
// Expect: report gpu-trace --names short: 3 x ,triton_poi_fused_add_0d1d2de,
// Expect: report gpu-trace --names full: 3 x ,"void scale<float>\(float\*, int\)",
// Expect: report gpu-trace --names full: 3 x ,"void scale<double>\(double\*, int\)",
// Expect: report gpu-trace --names mangled: 3 x ,_Z5scaleIfEvPfi,
// Expect: report gpu-trace --names mangled: 3 x ,triton_poi_fused_add_0d1d2de,
// Expect: report gpu-trace --names short: 2 x ,first of a handle,
// Expect: report gpu-trace --names short: 2 x ,second of a handle,
// Expect: report kernels --names short: ,scale#2$
#include "tests/sim/sim_program.h"

#include <initializer_list>

namespace {

void launch_and_unload(const char* name) {
  CUmodule module;
  CUfunction function;
  SIM_CHECK(cuModuleLoadData(&module, "image"));
  SIM_CHECK(cuModuleGetFunction(&function, module, name));
  SIM_CHECK(sim_program::launch(function));
  SIM_CHECK(cuCtxSynchronize());
  SIM_CHECK(cuModuleUnload(module));
}

}  // namespace

int main() {
  sim_program::make_context();
  for (int round = 0; round < 3; ++round) {
    for (const char* const name : {"_Z5scaleIfEvPfi", "_Z5scaleIdEvPdi", "plain_c", "triton_poi_fused_add_0d1d2de"})
      launch_and_unload(name);
  }
  for (int round = 0; round < 2; ++round) {
    for (const char* const name : {"first of a handle", "second of a handle"}) launch_and_unload(name);
  }
  return 0;
}
