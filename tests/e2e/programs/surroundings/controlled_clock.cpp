// A preloaded library controls the time that the program sees: frozen, running backwards, scaled or refused, before or
// after libprof.so, with each clock of the log. The program is recorded as without it, and ends in a bounded time. The
// recorder's own waits sleep: the helper thread takes no processor.
// Env: SIM="kernel work 20000"
// Shell: for mode in frozen back scaled gone; do for clock in auto monotonic; do for both in {shim}:$E2E_LIBPROF $E2E_LIBPROF:{shim}; do CLOCK_MODE=$mode PROF_CLOCK=$clock LD_PRELOAD=$both timeout -s KILL 20 {plain} || exit; done; done; done
// Expect: status 0
// Expect: stderr empty
// Expect: logs 16
// Expect: log 1: 100 kernel_launch, 100 kernel_run, counter clock_steps 0, whole, 0 lost
// Expect: log 2: 100 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 3: 100 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 6: 100 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 8: 100 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 12: 100 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 16: 100 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: report kernels: ^kernel,1600,.*,work$
#include "tests/sim/sim_program.h"

#include <poll.h>
#include <sys/resource.h>

#include <cstdio>

using namespace sim_program;

int main() {
  make_context();
  for (int i = 0; i < 100; ++i) SIM_CHECK(launch(kernel("work")));
  SIM_CHECK(cuCtxSynchronize());
  // Half a second of the machine, whatever the clocks say.
  for (int i = 0; i < 50; ++i) poll(nullptr, 0, 10);  // which the shim does not replace
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const double seconds = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  if (seconds > 0.4) return std::fprintf(stderr, "%.2f s of processor\n", seconds), 1;
  return 0;
}
