// Hardware counters with several recordings and processes. Each recording has a log whose launches have values, and
// CUPTI measures nothing between two recordings. A forked child of a measured process no longer calls CUPTI, and its
// log reports it. The values of a context are read before it is destroyed or, for a primary context, reset. A recording
// may start and stop with the measured range; a process may end inside one.
// Env: PROF_COUNTERS=memory PROF_FLUSH=0 SIM="cupti child_dies"
// Shell: PROF_START=profiler PROF_PARTS=2 {run} parts && {run} fork && {run} contexts && PROF_START=nvtx:step PROF_COUNTERS_OF=nvtx:step {run} range && PROF_COUNTERS_OF=nvtx:step {run} range
// Expect: status 0
// Expect: stderr empty
// Expect: logs 7
// Expect: log 1: launches accounted, 3 counters(inside gpu__time_duration=5000), 3 counter_values, 3 kernel_launch, 1 counter_set, whole, 0 lost
// Expect: log 2: launches accounted, 3 counters(inside gpu__time_duration=5000), 3 counter_values, 3 kernel_launch, 1 counter_set, whole, 0 lost
// Expect: log 3: launches accounted, 2 counters(inside gpu__time_duration=5000), 2 counter_values, 2 kernel_launch, whole, 0 lost
// Expect: log 4: 0 counter_values, 0 kernel_launch, >=1 api_call(cuInit), whole, 0 lost, counter counters_unavailable 1, text meta key="counters" value="this is a child of a process that used CUPTI"
// Expect: log 5: launches accounted, 6 counters(inside gpu__time_duration=5000), 6 counter_values, 6 kernel_launch, 4 counter_set, whole, 0 lost, counter counters_unread 0
// Expect: log 6: 1 counters(step gpu__time_duration=10000), 1 counter_values, 2 kernel_launch, whole, 0 lost, counter counters_no_session 0
// Expect: log 7: 2 counters(step gpu__time_duration=10000), 2 counter_values, 6 kernel_launch, whole, 0 lost, counter counters_failed 1
#include "tests/sim/sim_program.h"

#include <cudaProfiler.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

using namespace sim_program;

static void parts() {
  make_context();
  const CUfunction inside = kernel("inside"), between = kernel("between");
  for (int part = 0; part < 2; ++part) {
    SIM_CHECK(cuProfilerStart());
    for (int i = 0; i < 3; ++i) SIM_CHECK(launch(inside));
    SIM_CHECK(cuProfilerStop());
    SIM_CHECK(launch(between));
  }
}

static void fork_measured() {
  make_context();
  const CUfunction inside = kernel("inside");
  SIM_CHECK(launch(inside));
  if (const pid_t child = fork(); child == 0) {
    cuInit(0);  // the driver refuses in a forked child
    CUcontext context = nullptr;
    cuCtxCreate(&context, nullptr, 0, 0);
    return;
  } else {
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) exit(98);
  }
  SIM_CHECK(launch(inside));
}

static void contexts() {
  make_context();
  SIM_CHECK(launch(kernel("inside")));
  SIM_CHECK(launch(kernel("inside")));
  CUcontext context = nullptr;
  for (int i = 0; i < 2; ++i) {
    SIM_CHECK(cuCtxCreate(&context, nullptr, 0, 1));
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    SIM_CHECK(cuModuleLoadData(&module, "image"));
    SIM_CHECK(cuModuleGetFunction(&function, module, "inside"));
    SIM_CHECK(launch(function));
    SIM_CHECK(cuCtxDestroy(context));
  }
  SIM_CHECK(launch(kernel("inside")));
  SIM_CHECK(cuDevicePrimaryCtxReset(0));
  make_context();
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  SIM_CHECK(cuModuleLoadData(&module, "image"));
  SIM_CHECK(cuModuleGetFunction(&function, module, "inside"));
  SIM_CHECK(launch(function));
  SIM_CHECK(cuDevicePrimaryCtxRelease(0));
}

static void range() {
  make_context();
  for (int i = 0; i < 3; ++i) {
    nvtxRangePushA("step");
    for (int n = 0; n < 2; ++n) SIM_CHECK(launch(kernel("inside")));
    if (i != 2) nvtxRangePop();
  }
}

int main(int, char** argv) {
  if (std::strcmp(argv[1], "parts") == 0) parts();
  if (std::strcmp(argv[1], "fork") == 0) fork_measured();
  if (std::strcmp(argv[1], "contexts") == 0) contexts();
  if (std::strcmp(argv[1], "range") == 0) range();
}
