// A signal arrives after each instruction, and its handler launches: during the start of the recording, a thread's
// first launch, libprof's hook, its own driver calls and the driver itself. Each launch is recorded or counted,
// exactly.
// Env: PROF_GPU=off
// Link: none
// Expect: status 0
// Expect: log 1: >=1 kernel_launch(handler), counter before_ready >=1, counter nested_calls >=1, counter records_dropped_busy >=1
// Expect: log 1: 70000 kernel_launch + nested_calls + before_ready + records_dropped_busy, counter depth_marks >=1
// Expect: log 1: counter fork_discards 0, 22 thread, whole
// Expect: stdout 70000 launches
// Expect: stdout 0 steps left
#include "tests/e2e/programs/shims/reentrant_driver.h"

#include <signal.h>
#include <ucontext.h>

#include <cstdio>
#include <thread>

using reentrant_driver::Kernel;

static volatile int steps = 0;   // remaining steps
static volatile int silent = 0;  // how many of them do not launch
static void handle(int, siginfo_t*, [[maybe_unused]] void* context) {
  if (silent == 0) reentrant_driver::launch(Kernel::Handler);
  silent = silent > 0 ? silent - 1 : 0;
  steps = steps - 1;
#if defined(__x86_64__)
  constexpr greg_t kTrap = 0x100;  // a CPU flag: the processor traps after the next instruction
  if (steps <= 0) static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrap;
#endif
}

// Launches until `count` instructions have been single-stepped.
static void step(int count) {
  steps = count;
#if defined(__x86_64__)
  __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | 0x100);
#endif
  while (steps > 0 && reentrant_driver::launch(Kernel::Main)) {
#if !defined(__x86_64__)
    raise(SIGTRAP);
#endif
  }
}

// The handler runs on another stack, above the frames of the interrupted code: the recorder treats the interrupted call
// as left.
static void step_on_other_stack(int count) {
  alignas(16) char memory[65536];
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = sizeof memory;
  sigaltstack(&stack, nullptr);
  step(count);
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
}

int main() {
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGTRAP, &action, nullptr);
  reentrant_driver::left = 70000;
  silent = 500;  // otherwise the handler's first launch starts the recording
  // within the start, but not as far as the helper thread's creation, because it would inherit the stepping
  step(1500);
  step(20000);
  for (int before = 0; before < 400;
       before += 20) {  // each time the handler is the first to launch, a little later in the thread's registration
    std::thread([before] {
      silent = before;
      step(1500);
    }).join();
  }
  step_on_other_stack(10000);
  while (reentrant_driver::launch(Kernel::Main)) {}
  std::printf("%llu launches, %d steps left\n", static_cast<unsigned long long>(reentrant_driver::launches()), steps);
}
