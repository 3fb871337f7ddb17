// A SIGPROF handler that launches runs at 10 kHz and more during a loop that launches. The signal arrives at any
// instruction, mostly inside libprof's hook or inside the driver, which here may be reentered. Each launch is recorded
// or counted, exactly.
// Env: PROF_GPU=off
// Link: none
// Expect: status 0
// Expect: log 1: >=50000 kernel_launch(main), >=1 kernel_launch(handler), counter nested_calls >=100, counter depth_marks >=1
// Expect: log 1: 100000 kernel_launch + nested_calls, 0 lost, counter guard_resets 0, whole
// Expect: stdout 100000 launches
#include "tests/e2e/programs/shims/reentrant_driver.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>

using reentrant_driver::Kernel;

static void handle(int) { reentrant_driver::launch(Kernel::Handler); }

// By the system's clock, because profiling timers expire only at the kernel's ticks.
static bool signal_every(long ns) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  timer_t timer = nullptr;
  const itimerspec every{{0, ns}, {0, ns}};
  return timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &every, nullptr) == 0;
}

int main() {
  if (reentrant_driver::init(0) != CUDA_SUCCESS) return 1;
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  reentrant_driver::left = 100000;
  if (!signal_every(20'000)) return 2;
  while (reentrant_driver::launch(Kernel::Main)) {}
  std::printf("%llu launches\n", static_cast<unsigned long long>(reentrant_driver::launches()));
}
