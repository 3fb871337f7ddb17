// PROF_START=launches:N with the smallest numbers: 1 is a recording of the whole run, 2 leaves out one launch.
// Shell: for n in 1 2 3; do PROF_START=launches:$n {run} || exit; done
// Env: SIM='kernel first 1000; kernel second 1000; kernel third 1000'
// Expect: status 0
// Expect: stderr empty
// Expect: logs 3
// Expect: log 1: 1 kernel_launch(first), 1 kernel_launch(second), 1 kernel_launch(third), 3 kernel_launch, whole, 0 lost
// Expect: log 2: no kernel_launch(first), 1 kernel_launch(second), 1 kernel_launch(third), 2 kernel_launch, whole, 0 lost
// Expect: log 3: 1 kernel_launch(third), 1 kernel_launch, whole, 0 lost
#include "tests/sim/sim_program.h"

#include <initializer_list>

using namespace sim_program;

int main() {
  make_context();
  for (const char* const name : {"first", "second", "third"}) SIM_CHECK(launch(kernel(name)));
  SIM_CHECK(cuCtxSynchronize());
}
