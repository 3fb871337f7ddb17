// If a GPU's hardware counters cannot be sampled, the reason and the remedy are printed once and written to the log,
// and everything else is recorded as without the option. Reasons: no permission, another tool or process that samples,
// metrics that do not exist, that this GPU does not have or that need a second pass, launches that are measured by the
// same hardware, no GPU times requested, a CUPTI older than CUDA 12.6, no CUPTI. Without the option none of these
// functions is called.
// Shell: PROF_SAMPLING=overview SIM="fault cuptiPmSamplingEnable * 35" {run} && PROF_SAMPLING=overview SIM="fault cuptiPmSamplingGetCounterAvailability * 26" {run} && PROF_SAMPLING=no_such_metric {run} && PROF_SAMPLING=nvlrx__bytes {run} && PROF_SAMPLING=dram__bytes_read.max_rate {run} && PROF_SAMPLING=sm__ops_path_tensor_src_fp16,sm__ops_path_tensor_src_fp64,sm__ops_path_tensor_src_fp8,sm__ops_path_tensor_src_int8,lts__t_bytes,dram__bytes_read,dram__bytes_write {run} && PROF_SAMPLING=overview PROF_COUNTERS=memory {run} && PROF_SAMPLING=overview PROF_GPU=off {run} && PROF_SAMPLING=overview PROF_CUPTI={sim}/libcupti.so.12 {run} && PROF_SAMPLING=overview PROF_CUPTI={dir}/none {run} && PROF_SAMPLING=off SIM="cupti counters_absent" {run}
// Expect: status 0
// Expect: stderr libprof: no samples of hardware counters: cuptiPmSamplingEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: run as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0
// Expect: stderr libprof: no samples of hardware counters: cuptiPmSamplingGetCounterAvailability: CUPTI_ERROR_HARDWARE_BUSY: another tool measures on this GPU; end it
// Expect: stderr libprof: no samples of hardware counters: no_such_metric is not a metric of this chip (GH100); prof record --counters list:GH100 prints its metrics
// Expect: stderr libprof: no samples of hardware counters: this GPU does not count nvlrx__bytes.sum
// Expect: stderr libprof: no samples of hardware counters: dram__bytes_read.max_rate has a suffix that is none (GH100)
// Expect: stderr libprof: no samples of hardware counters: dram__bytes_write.sum needs a pass of its own beside the metrics before it, and samples have one: choose fewer or others
// Expect: stderr libprof: no samples of hardware counters: PROF_COUNTERS measures launches by the same hardware
// Expect: stderr libprof: no samples of hardware counters: PROF_GPU=off
// Expect: stderr libprof: no samples of hardware counters: this CUPTI has no cupti
// Expect: logs 11
// Expect: log 1: 3 kernel_launch, 3 kernel_run, 0 counter_samples, counter sampling_unavailable 1, whole, 0 lost, text meta key="sampling" value="cuptiPmSamplingEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
// Expect: log 2: 3 kernel_run, 0 counter_samples, counter sampling_unavailable 1, whole, 0 lost
// Expect: log 3: 3 kernel_run, counter sampling_unavailable 1, whole, 0 lost
// Expect: log 4: 3 kernel_run, counter sampling_unavailable 1, whole, 0 lost
// Expect: log 5: 3 kernel_run, counter sampling_unavailable 1, whole, 0 lost
// Expect: log 6: 3 kernel_run, counter sampling_unavailable 1, whole, 0 lost
// Expect: log 7: 3 counter_values, 0 kernel_run, counter sampling_unavailable 1, counter counters_unavailable 0, whole, 0 lost
// Expect: log 8: 0 kernel_run, counter sampling_unavailable 1, whole, 0 lost, text meta key="sampling" value="PROF_GPU=off"
// Expect: log 9: 3 kernel_run, counter sampling_unavailable 1, whole, 0 lost
// Expect: log 10: 0 kernel_run, counter sampling_unavailable 1, counter cupti_unavailable 1, whole, 0 lost
// Expect: log 11: 3 kernel_run, counter sampling_unavailable 0, whole, 0 lost
#include "tests/sim/sim_program.h"

using namespace sim_program;

int main() {
  make_context();
  for (int i = 0; i < 3; ++i) SIM_CHECK(launch(kernel("kernel")));
  SIM_CHECK(cuCtxSynchronize());
}
