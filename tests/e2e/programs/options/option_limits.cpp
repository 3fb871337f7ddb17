// Values outside the limits of an option: the nearest limit is used, and one line per option says so.
// Env: PROF_CLOCK=sim_now_ns PROF_RING=64K PROF_SAMPLING=overview PROF_SAMPLING_INTERVAL=1us SIM="kernel long 2000000"
// Expect: status 0
// Expect: stderr once libprof: PROF_RING is less than 1M: the ring has 1M
// Expect: stderr once libprof: PROF_SAMPLING_INTERVAL is less than 5us: samples are 5us apart
// Expect: log 1: 10 kernel_launch, text interval_ns=5000 chip="GH100"
#include "tests/sim/sim_program.h"

using namespace sim_program;

int main() {
  make_context();
  for (int i = 0; i < 10; ++i) SIM_CHECK(launch(kernel("long")));
  SIM_CHECK(cuCtxSynchronize());
}
