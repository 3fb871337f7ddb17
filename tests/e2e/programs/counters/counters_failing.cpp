// Values that CUPTI does not deliver are counted, by launch, and the program goes on: ranges that CUPTI dropped, a
// range that cannot begin or end, values that cannot be decoded, a Stop that never returns at the end, a second context
// that CUPTI refuses. If the process is killed, values older than PROF_FLUSH are in its log.
// Env: PROF_COUNTERS=memory PROF_FLUSH=0 PROF_EXIT_WAIT=0.3
// Shell: SIM="cupti counters_drop 5" {run} && SIM="fault cuptiRangeProfilerPushRange 3 999" {run} && SIM="fault cuptiRangeProfilerPopRange 3 999" {run} && SIM="fault cuptiRangeProfilerDecodeData * 999" {run} && SIM="cupti counters_hang cuptiRangeProfilerStop" {run} && SIM="fault cuptiProfilerHostEvaluateToGpuValues 5+ 999" {run} && PROF_COUNTERS=tensor SIM="fault cuptiRangeProfilerStop 4 999" {run} && SIM="fault cuptiRangeProfilerEnable 2 39" {run} two; PROF_FLUSH=0.05 {run} hold & sleep 1; kill -9 $!; wait
// Expect: stderr libprof: hardware counters end on a context: cuptiRangeProfilerDecodeData: CUPTI_ERROR_UNKNOWN
// Expect: stderr libprof: CUPTI did not return in time: hardware counters of the last launches are missing
// Expect: stderr libprof: no hardware counters on a context: cuptiRangeProfilerEnable: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED: another tool measures on this GPU; end it
// Expect: logs 9
// Expect: log 1: launches accounted, 10 kernel_launch, 8 counters(kernel gpu__time_duration=5000), counter counters_dropped 2, counter counters_failed 0, whole
// Expect: log 2: launches accounted, 10 kernel_launch, 9 counter_values, counter counters_failed 1, 0 lost, whole
// Expect: log 3: launches accounted, 10 kernel_launch, 0 counter_values, counter counters_failed 1, counter counters_no_session 7, counter counters_unread 2, whole
// Expect: log 4: launches accounted, 10 kernel_launch, 0 counter_values, counter counters_failed 10, whole
// Expect: log 5: launches accounted, 10 kernel_launch, 0 counter_values, counter counters_unread 10, counter cupti_flush_timeouts 1, whole
// Expect: log 6: launches accounted, 10 kernel_launch, 4 counter_values, counter counters_failed 6, whole
// Expect: log 7: launches accounted, 10 kernel_launch, 3 counter_values, counter counters_failed 1, counter counters_no_session 6, whole, 0 lost
// Expect: log 8: launches accounted, 12 kernel_launch, 10 counter_values, counter counters_failed 0, counter counters_no_session 2, whole, 0 lost
// Expect: log 9: launches accounted, 10 kernel_launch, 10 counter_values
#include "tests/sim/sim_program.h"

#include <unistd.h>

#include <cstring>

using namespace sim_program;

int main(int count, char** words) {
  make_context();
  for (int i = 0; i < 10; ++i) SIM_CHECK(launch(kernel("kernel")));
  SIM_CHECK(cuCtxSynchronize());
  if (count == 2 && std::strcmp(words[1], "two") == 0) {
    CUcontext context = nullptr;
    SIM_CHECK(cuCtxCreate(&context, nullptr, 0, 1));
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    SIM_CHECK(cuModuleLoadData(&module, "image"));
    SIM_CHECK(cuModuleGetFunction(&function, module, "kernel"));
    for (int i = 0; i < 2; ++i) SIM_CHECK(launch(function));
  }
  while (count == 2 && std::strcmp(words[1], "hold") == 0) pause();
}
