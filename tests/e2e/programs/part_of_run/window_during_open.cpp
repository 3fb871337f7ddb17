// A recording stops while another thread's first launch is still enabling kernel records in CUPTI: CUPTI is not forced
// to deliver incomplete records, collects nothing after the recording, and the next recording has its GPU times.
// Env: PROF_START=profiler PROF_PARTS=0 SIM="cupti enable_takes 20; cupti forced_kills"
// Link: cupti
// Expect: status 0
// Expect: stderr empty
// Expect: logs 2
// Expect: log 1: whole, text meta key="recording_ended"
// Expect: log 2: whole, 1 kernel_launch(inside), 1 kernel_run
#include "tests/sim/sim_program.h"

#include <cudaProfiler.h>
#undef __CUDA_API_VERSION_INTERNAL
#include <cupti.h>
#include <unistd.h>

#include <thread>

using namespace sim_program;

int main() {
  const CUcontext context = make_context();
  const CUfunction function = kernel("inside");
  SIM_CHECK(cuProfilerStart());
  std::thread first([&] {
    SIM_CHECK(cuCtxSetCurrent(context));
    SIM_CHECK(launch(function));
  });
  usleep(30'000);  // kernels, copies, fills …: 20 ms each
  SIM_CHECK(cuProfilerStop());
  first.join();
  SIM_CHECK(cuCtxSynchronize());
  if (cuptiActivityFlushAll(1) != CUPTI_SUCCESS) return 1;  // ends the process if kernels are still being collected
  SIM_CHECK(cuProfilerStart());
  SIM_CHECK(launch(function));
  SIM_CHECK(cuCtxSynchronize());
  SIM_CHECK(cuProfilerStop());
  return 0;
}
