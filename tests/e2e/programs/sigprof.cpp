// A SIGPROF handler at up to 10 kHz that launches, over a loop that launches: nothing hangs, every call is recorded or counted.
// Env: PROF_GPU=off SIM_CLOCK=real
// Expect: status 0
// Expect: log 1: >=20000 kernel_launch(main), whole
// Expect: stdout handled
#include "tests/sim/sim_program.h"

#include <signal.h>
#include <sys/time.h>

static CUfunction in_handler;
static volatile int handled = 0;
static volatile int inside_driver = 0;
static void handle(int) {
  handled = handled + 1;
  if (inside_driver == 0) cuLaunchKernel(in_handler, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
}

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("main");
  in_handler = sim_program::kernel("handler");
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(SIGPROF, &action, nullptr);
  const itimerval every{{0, 100}, {0, 100}};
  setitimer(ITIMER_PROF, &every, nullptr);
  for (int i = 0; i < 20000 || handled < 5; ++i) {
    inside_driver = 1;  // the simulated driver is not reentrant; our own code before and after it must be
    SIM_CHECK(sim_program::launch(function));
    inside_driver = 0;
    if (i % 100 == 0) SIM_CHECK(cuCtxSynchronize());
  }
  std::printf("handled %d\n", handled);
}
