// PROF_SAMPLING=overview: hardware samples are taken at the interval, and GPU times are recorded as without the option,
// including the first kernel. Samples are on the clock of the kernels and contain what ran in them. A metric that the
// GPU does not count (a link) is left out of the set.
// Env: PROF_CLOCK=sim_now_ns PROF_SAMPLING=overview PROF_SAMPLING_INTERVAL=20us SIM="kernel long 2000000; kernel short 3000"
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 12 kernel_launch, 12 kernel_run, 1 sampled_set, whole, 0 lost
// Expect: log 1: text sm__cycles_active.avg.pct_of_peak_sustained_elapsed\nsm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed\ndram__bytes_read.sum\ndram__bytes_write.sum\ngpc__cycles_elapsed.avg.per_second, text interval_ns=20000 chip="GH100"
// Expect: log 1: text meta key="sampling" value="on", text meta key="gpu_times" value="on", counter sampling_overflows 0, counter samples_unread 0, counter sampling_unavailable 0
// Expect: report sampling: ^,[^,]*,\d+,0,kernel,10,10,9\d\d,
// Expect: report sampling: ^,[^,]*,\d+,0,kernel,2,0,0,.*too short: the longest is 3.000 us
// Expect: trace: "ph":"C","name":"tensor active".*"%":100
// Expect: trace valid
#include "tests/sim/sim_program.h"

using namespace sim_program;

int main() {
  make_context();
  for (int i = 0; i < 10; ++i) SIM_CHECK(launch(kernel("long")));
  for (int i = 0; i < 2; ++i) SIM_CHECK(launch(kernel("short")));
  SIM_CHECK(cuCtxSynchronize());
}
