// If hardware counters are not available, the reason and the remedy are printed once and written to the log, and GPU
// times are recorded as without the option. Reasons: no permission, a GPU that may not be profiled, a metric that does
// not exist, a suffix that does not exist, a set that ranges cannot have, a CUPTI older than CUDA 12.6, no CUPTI,
// another tool. Without the option none of these functions is called.
// Shell: PROF_COUNTERS=memory SIM="fault cuptiProfilerGetCounterAvailability * 35" {run} && PROF_COUNTERS=memory SIM="cupti counters_unsupported vGpu" {run} && PROF_COUNTERS=dram__bytes_read,no_such_metric {run} && PROF_COUNTERS=dram__bytes_read.max_rate {run} && PROF_COUNTERS=sm__throughput {run} && PROF_COUNTERS=roofline PROF_COUNTERS_OF=nvtx:x {run} && PROF_COUNTERS=memory PROF_GPU=off {run} && PROF_COUNTERS=memory SIM="fault cuptiRangeProfilerEnable * 39" {run} && PROF_COUNTERS=memory SIM="fault cuptiRangeProfilerStart * 999; device 0 H100 MIG 1g.10gb" {run} && PROF_COUNTERS=memory PROF_CUPTI={sim}/libcupti.so.12 {run} && PROF_COUNTERS=memory PROF_CUPTI={dir}/none {run} && PROF_COUNTERS=off SIM="cupti counters_absent" {run}
// Expect: status 0
// Expect: stderr libprof: no hardware counters: cuptiProfilerGetCounterAvailability: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: run as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0
// Expect: stderr libprof: no hardware counters: GPU 0 cannot be profiled: it is a vGPU that may not be profiled
// Expect: stderr libprof: no hardware counters: no_such_metric is not a metric of this chip (GH100); prof record --counters list:GH100 prints its metrics; GPU times are recorded instead
// Expect: stderr libprof: no hardware counters: dram__bytes_read.max_rate has a suffix that is none (GH100)
// Expect: stderr libprof: no hardware counters: sm__throughput is no counter: it needs a suffix such as
// Expect: stderr libprof: no hardware counters: these metrics need several passes, and an NVTX range runs once
// Expect: stderr libprof: no hardware counters: PROF_GPU=off
// Expect: stderr (the device is a part of a GPU by MIG; counters of a whole GPU need a whole one); GPU times are recorded instead
// Expect: logs 12
// Expect: log 1: 3 kernel_launch, 3 kernel_run, 0 counter_values, counter counters_unavailable 1, whole, 0 lost, text meta key="counters" value="cuptiProfilerGetCounterAvailability: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, text meta key="gpu_times" value="on"
// Expect: log 2: 3 kernel_run, counter counters_unavailable 1, counter counters_no_session 0, whole, 0 lost
// Expect: log 3: 3 kernel_run, counter counters_unavailable 1, whole, 0 lost
// Expect: log 4: 3 kernel_run, counter counters_unavailable 1, whole, 0 lost
// Expect: log 5: 3 kernel_run, counter counters_unavailable 1, whole, 0 lost
// Expect: log 6: 3 kernel_run, counter counters_unavailable 1, whole, 0 lost
// Expect: log 7: 0 kernel_run, counter counters_unavailable 1, whole, 0 lost, text meta key="counters" value="PROF_GPU=off"
// Expect: log 8: 3 kernel_run, counter counters_unavailable 1, whole, 0 lost
// Expect: log 9: 3 kernel_run, counter counters_unavailable 1, whole, 0 lost
// Expect: stderr libprof: no hardware counters: this CUPTI has no cupti
// Expect: log 10: 3 kernel_run, counter counters_unavailable 1, whole, 0 lost
// Expect: stderr libprof: no hardware counters and no GPU times:
// Expect: log 11: 0 kernel_run, counter counters_unavailable 1, counter cupti_unavailable 1, whole, 0 lost
// Expect: log 12: 3 kernel_run, counter counters_unavailable 0, whole, 0 lost
#include "tests/sim/sim_program.h"

using namespace sim_program;

int main() {
  make_context();
  for (int i = 0; i < 3; ++i) SIM_CHECK(launch(kernel("kernel")));
  SIM_CHECK(cuCtxSynchronize());
}
