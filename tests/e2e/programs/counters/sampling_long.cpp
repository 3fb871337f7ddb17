// More samples than CUPTI's image holds are all read at the end: each of 40 kernels has its own.
// Env: PROF_CLOCK=sim_now_ns PROF_SAMPLING=overview PROF_SAMPLING_INTERVAL=20us SIM="kernel long 2000000"
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 40 kernel_run, whole, 0 lost, counter samples_unread 0, counter sampling_overflows 0
// Expect: report sampling: ^,[^,]*,\d+,0,kernel,40,40,39\d\d,
#include "tests/sim/sim_program.h"

using namespace sim_program;

int main() {
  make_context();
  for (int i = 0; i < 40; ++i) SIM_CHECK(launch(kernel("long")));
  SIM_CHECK(cuCtxSynchronize());
}
