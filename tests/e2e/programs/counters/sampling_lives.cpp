// Hardware samples with several recordings and processes. Each recording has a log with its own samples, and nothing is
// sampled between two recordings. A forked child samples nothing, its log reports it, and the parent goes on. Samples
// from before a kill are in the log. A buffer overflow is counted and sampling starts again. A chip without a trigger
// by time counts its clock. A second GPU is sampled when its first context appears; a GPU that PROF_DEVICES excludes is
// not. A CUPTI call that never returns is abandoned. The simulated time stops between operations while real time goes
// on, which counts as samples that were not read, so there is no "0 lost" here.
// Env: PROF_SAMPLING=overview PROF_SAMPLING_INTERVAL=20us PROF_FLUSH=0.02 SIM="kernel long 2000000; cupti child_dies"
// Shell: PROF_START=profiler PROF_PARTS=2 {run} parts && {run} fork && ({run} kill; true) && SIM="kernel long 2000000; cupti samples_buffer 150" {run} overflow && SIM="kernel long 2000000; cupti samples_by_clock" {run} one && {run} devices && PROF_DEVICES=1 {run} devices && PROF_EXIT_WAIT=0.2 SIM="kernel long 2000000; cupti counters_hang cuptiPmSamplingStop" {run} one
// Expect: status 0
// Expect: stderr libprof: CUPTI did not return in time: samples of hardware counters of the last moments are missing
// Expect: logs 10
// Expect: log 1: >=4 counter_samples, 1 sampled_set, 3 kernel_launch, 3 kernel_run, whole, counter records_dropped_full 0, counter sampling_overflows 0
// Expect: log 2: >=4 counter_samples, 1 sampled_set, 3 kernel_launch, 3 kernel_run, whole, counter records_dropped_full 0, counter sampling_overflows 0
// Expect: log 3: >=4 counter_samples, 1 sampled_set, 6 kernel_launch, whole, counter records_dropped_full 0, counter sampling_overflows 0
// Expect: log 4: 0 counter_samples, counter sampling_unavailable 1, text meta key="sampling" value="this is a child of a process that used CUPTI"
// Expect: log 5: >=4 counter_samples, 1 sampled_set
// Expect: log 6: >=1 counter_samples, counter sampling_unavailable 0
// Expect: log 7: >=4 counter_samples, 1 sampled_set, text interval_ns=0 chip="GH100", whole, counter records_dropped_full 0, counter sampling_overflows 0
// Expect: log 8: 2 sampled_set, >=8 counter_samples, whole, counter records_dropped_full 0, counter sampling_overflows 0
// Expect: log 9: 1 sampled_set, >=4 counter_samples, whole, counter records_dropped_full 0, counter sampling_overflows 0
// Expect: log 10: counter cupti_flush_timeouts 1
#include "tests/sim/sim_program.h"

#include <cudaProfiler.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

using namespace sim_program;

static void run(CUfunction function, int times = 3) {
  for (int i = 0; i < times; ++i) SIM_CHECK(launch(function));
  SIM_CHECK(cuCtxSynchronize());
}

// In the meantime the helper thread, which uses real time, reads samples.
static void wait_a_while() { usleep(300'000); }

int main(int, char** arguments) {
  const char* const what = arguments[1];
  make_context();
  const CUfunction function = kernel("long");
  if (std::strcmp(what, "parts") == 0) {
    for (int part = 0; part < 2; ++part) {
      SIM_CHECK(cuProfilerStart());
      run(function);
      SIM_CHECK(cuProfilerStop());
      run(function);
    }
  } else if (std::strcmp(what, "fork") == 0) {
    run(function);
    const pid_t child = fork();
    if (child == 0) {
      cuInit(0);  // the driver refuses in a forked child
      CUcontext context = nullptr;
      cuCtxCreate(&context, nullptr, 0, 0);
      return 0;
    }
    int status = 0;
    waitpid(child, &status, 0);
    SIM_CHECK(status == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
    run(function);
  } else if (std::strcmp(what, "kill") == 0) {
    run(function);
    wait_a_while();
    raise(SIGKILL);
  } else if (std::strcmp(what, "overflow") == 0) {
    run(function);
    wait_a_while();
    run(function, 1);
  } else if (std::strcmp(what, "devices") == 0) {
    run(function);
    make_context(1);
    CUmodule module;
    CUfunction second;
    SIM_CHECK(cuModuleLoadData(&module, "image"));
    SIM_CHECK(cuModuleGetFunction(&second, module, "long"));
    run(second, 1);
    wait_a_while();
    run(second);
  } else {
    run(function);
  }
}
