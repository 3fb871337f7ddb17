// PROF_START=profiler: events between cuProfilerStart and cuProfilerStop are recorded, with GPU times, also on streams
// and with kernels made before. Nothing else is recorded, nor a second start, nor what a child does afterwards. A
// program that never calls cuProfilerStart has no log.
// Env: PROF_START=profiler
// Shell: {run} && {run} never
// Expect: status 0
// Expect: stderr empty
// Expect: logs 1
// Expect: log 1: 5 kernel_launch(inside), 5 kernel_launch, 5 kernel_run, 2 api_call(cuProfilerStart), 1 api_call(cuProfilerStop), whole, 0 lost
// Expect: log 1: text meta key="recording_ended" value="cudaProfilerStop", text meta key="cupti_residual"
// Expect: trace: 5 x "cat":"kernel"
// Expect: trace: 5 x "ph":"f",.*"cat":"ac2g"
#include "tests/sim/sim_program.h"

#include <cudaProfiler.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

using namespace sim_program;

int main(int argc, char**) {
  const CUcontext context = make_context();
  const CUfunction before = kernel("before"), inside = kernel("inside"), after = kernel("after");
  const CUstream stream = make_stream();
  for (int i = 0; i < 3; ++i) SIM_CHECK(launch(before, stream));
  SIM_CHECK(cuProfilerStop());  // nothing had started
  if (argc > 1) return 0;
  SIM_CHECK(cuProfilerStart());
  SIM_CHECK(cuProfilerStart());  // a second start changes nothing
  SIM_CHECK(launch(inside, stream));
  for (int i = 0; i < 3; ++i) SIM_CHECK(launch(inside));
  std::thread([&] {
    SIM_CHECK(cuCtxSetCurrent(context));
    SIM_CHECK(launch(inside, stream));
  }).join();
  SIM_CHECK(cuCtxSynchronize());
  SIM_CHECK(cuProfilerStop());
  for (int i = 0; i < 1000; ++i) SIM_CHECK(launch(after, stream));
  SIM_CHECK(cuProfilerStart());
  SIM_CHECK(launch(after));
  SIM_CHECK(cuProfilerStop());
  const pid_t child = fork();
  if (child == 0) {
    cuInit(0);
    return 0;
  }
  int status = 0;
  waitpid(child, &status, 0);
  SIM_CHECK(cuCtxSynchronize());
  return status;
}
