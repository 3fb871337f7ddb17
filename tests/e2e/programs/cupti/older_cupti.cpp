// A CUPTI older than CUDA 12.5 cannot enable single driver calls. So every call is collected, and the calls that launch
// operations give the origin of each operation; also with recordings of part of the run, and in bursts. The other calls
// are not written to the log.
// Env: SIM="cupti no_driver_api"
// Shell: {run} && PROF_START=profiler PROF_PARTS=2 {run} && PROF_BUDGET=50% {run} long
// Expect: status 0
// Expect: stderr empty
// Expect: logs 4
// Expect: log 1: 22 kernel_launch, 24 kernel_run, 2 copy_run, 2 fill_run, text "every call", whole, 0 lost
// Expect: log 2: 10 kernel_launch, 12 kernel_run, 1 copy_run, 1 fill_run, text "every call", whole, 0 lost
// Expect: log 3: 10 kernel_launch, 12 kernel_run, 1 copy_run, 1 fill_run, text "every call", whole, 0 lost
// Expect: log 4: >=14 kernel_run, text "every call", whole, 0 lost
// Expect: report gpu-trace: coverage: .*GPU operations (\d+), with launch \1;.* lost records 0
#include "tests/sim/sim_program.h"

#include <cudaProfiler.h>

#include <cstring>

static CUfunction g_kernel;
static CUstream g_stream;
static CUdeviceptr g_memory;

// 10 kernels, a copy, a fill and a graph of 2 kernels, between calls that launch nothing on the GPU.
static void work(CUgraphExec exec) {
  for (unsigned i = 0; i < 10; ++i) {
    CUcontext current;
    SIM_CHECK(cuCtxGetCurrent(&current));
    SIM_CHECK(sim_program::launch(g_kernel, g_stream, 1 + i));
    cuStreamQuery(g_stream);
  }
  char host[64] = {};
  SIM_CHECK(cuMemcpyHtoD(g_memory, host, sizeof host));
  SIM_CHECK(cuMemsetD8(g_memory, 0, 64));
  SIM_CHECK(cuGraphLaunch(exec, g_stream));
  SIM_CHECK(cuStreamSynchronize(g_stream));
}

int main(int argc, char**) {
  sim_program::make_context();
  g_kernel = sim_program::kernel("step");
  g_stream = sim_program::make_stream();
  SIM_CHECK(cuMemAlloc(&g_memory, 64));
  CUgraph graph;
  CUgraphExec exec;
  SIM_CHECK(cuStreamBeginCapture(g_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  for (unsigned i = 0; i < 2; ++i) SIM_CHECK(sim_program::launch(g_kernel, g_stream, 1));
  SIM_CHECK(cuStreamEndCapture(g_stream, &graph));
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  for (int part = 0; part < (argc > 1 ? 2000 : 2); ++part) {
    SIM_CHECK(cuProfilerStart());
    work(exec);
    SIM_CHECK(cuProfilerStop());
  }
}
