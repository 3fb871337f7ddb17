// Every way to launch a kernel, linked with -lcuda, so through libprof.so's exported symbols.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: log 1: 5 kernel_launch(plain), 2 kernel_launch(cooperative), 1 kernel_launch(extended), 1 graph_launch, whole, 0 lost
// Expect: log 1: 1 graph, text attributes=1, text kernels=1 copies=0, 1 api_call(cuLaunchHostFunc), no unhooked_api
#include "tests/sim/sim_program.h"

static void host(void*) {}

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
