// A device is reset and used again: its primary context then has the same handle but is another context. Operations of
// the old context are finished, its streams and its memory no longer exist, and calls that still use them fail. Later
// events are counted in the new context.
// Expect: status 0
// Expect: log 1: 7 kernel_launch, 3 kernel_launch(after), 6 kernel_run, whole, 0 lost
// Expect: log 1: text gpu_context=1, text gpu_context=2, 1 api_call(cuDevicePrimaryCtxReset_v2), text result=709
// Expect: trace: launches 7, with GPU time 6 .*; GPU operations 6, with launch 6
// Expect: report queue-depth: 1 x ^,[^,]*,\d+,0,1,7,.*,2,100.0,
// Expect: report queue-depth: 1 x ^,[^,]*,\d+,0,1,13,.*,1,100.0,
// Expect: report queue-depth: 1 x ^,[^,]*,\d+,0,2,7,.*,3,100.0,
// Expect: report gpu-trace: 3 x ,before
// Expect: report gpu-trace: 3 x ,after
// Expect: report memory: ^,[^,]*,\d+,device 0,,CUDA calls,2,1500,1,1000,0,1000,\d+,\d+,500,0,$
// Expect: report memory-trace: ,device 0,,cuDevicePrimaryCtxReset_v2,,1000,0,
#include "tests/sim/sim_program.h"

#include <initializer_list>

static CUfunction load(const char* name) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  SIM_CHECK(cuModuleLoadData(&module, "image"));
  SIM_CHECK(cuModuleGetFunction(&function, module, name));
  return function;
}

int main() {
  sim_program::make_context();
  sim_program::allocate(1000);  // never freed
  const CUstream old = sim_program::make_stream();
  const CUfunction before = load("before");
  for (const CUstream stream : {CUstream{}, old, CUstream{}}) SIM_CHECK(sim_program::launch(before, stream));
  SIM_CHECK(cuDevicePrimaryCtxReset(0));

  if (sim_program::launch(before, old) == CUDA_SUCCESS) return 1;
  sim_program::make_context();
  const CUfunction after = load("after");
  for (int i = 0; i < 3; ++i) SIM_CHECK(sim_program::launch(after));
  SIM_CHECK(cuCtxSynchronize());
  sim_program::allocate(500);
}
