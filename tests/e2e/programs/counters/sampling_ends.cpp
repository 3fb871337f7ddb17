// At some time CUPTI delivers no more samples and no error: the number of missing samples up to the end is counted, and
// their time is reported.
// Env: PROF_CLOCK=sim_now_ns PROF_SAMPLING=overview PROF_SAMPLING_INTERVAL=20us SIM="kernel long 2000000; cupti samples_most 2000"
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 40 kernel_run, whole, counter samples_unread 1953, counter sampling_overflows 0
// Expect: report sampling: coverage: .*samples of hardware counters 2047, missing for 39\.\d+ ms
#include "tests/sim/sim_program.h"

using namespace sim_program;

int main() {
  make_context();
  for (int i = 0; i < 40; ++i) SIM_CHECK(launch(kernel("long")));
  SIM_CHECK(cuCtxSynchronize());
}
