// Every way to launch a kernel, linked with -lcuda, and therefore through libprof.so's exported symbols.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: log 1: 5 kernel_launch(plain), 2 kernel_launch(cooperative), 1 kernel_launch(extended), 1 graph_launch, whole, 0 lost
// Expect: log 1: 1 graph, text attributes=1, text kernels=1 copies=0, 1 api_call(cuLaunchHostFunc), no unhooked_api
// Expect: log 1: 1 kernel_launch(plain grid_x=4 grid_y=5 grid_z=6 block_x=64 block_y=2 shared_bytes=128 attributes=0)
// Expect: log 1: 2 kernel_launch(cooperative attributes=1), 1 kernel_launch(extended attributes=0), 1 kernel_launch(dependent attributes=2)
// Expect: log 1: 3 kernel_launch(old block_x=0), 1 kernel_launch(old grid_x=1), 1 kernel_launch(old grid_x=7 grid_y=8)
// Expect: log 1: 1 kernel_launch(old grid_x=9 grid_y=10), 2 kernel_launch(everywhere attributes=1 grid_x=3 block_x=64), 2 context
#include "tests/sim/sim_program.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // some of the forms are deprecated
static void host(void*) {}

// The block's shape was set before, so the launch does not contain it: 0.
static void launch_as_of_old(CUstream stream) {
  const CUfunction old = sim_program::kernel("old");
  SIM_CHECK(cuFuncSetBlockShape(old, 32, 2, 1));
  SIM_CHECK(cuLaunch(old));
  SIM_CHECK(cuLaunchGrid(old, 7, 8));
  SIM_CHECK(cuLaunchGridAsync(old, 9, 10, stream));
}

// One call that launches on two devices.
static void launch_everywhere(CUstream stream) {
  const CUfunction everywhere = sim_program::kernel("everywhere");
  CUcontext here = nullptr;
  SIM_CHECK(cuCtxGetCurrent(&here));
  sim_program::make_context(1);
  CUDA_LAUNCH_PARAMS one{};
  one.function = everywhere;
  one.gridDimX = 3, one.gridDimY = one.gridDimZ = 1;
  one.blockDimX = 64, one.blockDimY = one.blockDimZ = 1;
  CUDA_LAUNCH_PARAMS both[] = {one, one};
  both[0].hStream = stream;
  both[1].hStream = sim_program::make_stream();
  SIM_CHECK(cuCtxSetCurrent(here));
  SIM_CHECK(cuLaunchCooperativeKernelMultiDevice(both, 2, 0));
}

int main() {
  sim_program::make_context();
  const CUfunction plain = sim_program::kernel("plain"), cooperative = sim_program::kernel("cooperative");
  const CUstream stream = sim_program::make_stream();
  SIM_CHECK(cuLaunchKernel(plain, 1, 2, 3, 32, 1, 1, 0, nullptr, nullptr, nullptr));
  SIM_CHECK(cuLaunchKernel(plain, 1, 2, 3, 32, 1, 1, 0, stream, nullptr, nullptr));
  SIM_CHECK(cuLaunchKernel(plain, 1, 2, 3, 32, 1, 1, 0, CU_STREAM_PER_THREAD, nullptr, nullptr));
  SIM_CHECK(cuLaunchKernel(plain, 4, 5, 6, 64, 2, 1, 128, CU_STREAM_LEGACY, nullptr, nullptr));
  SIM_CHECK(cuLaunchCooperativeKernel(cooperative, 1, 1, 1, 32, 1, 1, 0, stream, nullptr));
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  SIM_CHECK(cuLaunchKernelEx(&config, sim_program::kernel("extended"), nullptr, nullptr));
  config.attrs = &attribute;
  config.numAttrs = 1;
  SIM_CHECK(cuLaunchKernelEx(&config, cooperative, nullptr, nullptr));
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  SIM_CHECK(cuLaunchKernelEx(&config, sim_program::kernel("dependent"), nullptr, nullptr));
  launch_as_of_old(stream);
  launch_everywhere(stream);
  SIM_CHECK(cuLaunchHostFunc(stream, host, nullptr));
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  SIM_CHECK(sim_program::launch(plain, stream));
  CUgraph graph;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
}
