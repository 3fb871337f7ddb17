// PROF_DEVICES: one of two GPUs is recorded. Launches on the other GPU and its operations are counted; its streams have
// no completion marks. Calls that launch nothing are recorded for every GPU. An invalid list excludes nothing.
// Env: SIM="devices 2"
// Shell: PROF_DEVICES=1 {run}; PROF_DEVICES=first {run}; PROF_DEVICES=0,1 PROF_STACKS=launch {run}; PROF_DEVICES=1 PROF_COUNTERS=memory {run}
// Expect: status 0
// Expect: stderr libprof: PROF_DEVICES is not valid, expected LIST|all; the default is used
// Expect: logs 4
// Expect: log 1: 102 kernel_launch(wanted), 0 kernel_launch(other), 1 graph_launch, 2 memory_launch, 102 kernel_run, 1 copy_run, 1 fill_run
// Expect: log 1: 4 api_call(cuStreamSynchronize), counter other_device_launches 206, counter other_device_operations 205
// Expect: log 1: counter depth_marks 3, whole, 0 lost
// Expect: log 2: 102 kernel_launch(wanted), 202 kernel_launch(other), 2 graph_launch, 5 memory_launch, counter other_device_launches 0, whole, 0 lost
// Expect: log 3: 102 kernel_launch(wanted), 202 kernel_launch(other), counter other_device_launches 0, counter other_device_operations 0, whole, 0 lost
// Expect: log 4: 102 kernel_launch(wanted), 0 kernel_launch(other), 101 counter_values, counter counters_captured 2, counter counters_no_session 0
// Expect: log 4: launches accounted, counter other_device_launches 206, whole, 0 lost
// Expect: report kernels: not recorded by PROF_DEVICES=1: launches 206, GPU operations 205
#include "tests/sim/sim_program.h"

#include <unistd.h>

using namespace sim_program;

static void work(const char* name, unsigned launches, unsigned fills) {
  const CUfunction function = kernel(name);
  const CUstream stream = make_stream();
  const CUdeviceptr memory = allocate(64);
  char host[64] = {};
  for (unsigned i = 0; i < launches; ++i) {
    SIM_CHECK(launch(function, stream));
    usleep(20);  // slow enough that every 32nd has a mark
  }
  for (unsigned i = 0; i < fills; ++i) SIM_CHECK(cuMemsetD8Async(memory, 1, sizeof host, stream));
  SIM_CHECK(cuMemcpyHtoDAsync(memory, host, sizeof host, stream));
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  for (int i = 0; i < 2; ++i) SIM_CHECK(launch(function, stream));
  CUgraph graph;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
  SIM_CHECK(cuStreamSynchronize(stream));
}

int main() {
  make_context(0);
  work("other", 200, 2);
  make_context(1);
  work("wanted", 100, 1);
}
