// A program that leaves without exit handlers after it synchronised has its GPU times: by _exit, by _Exit, by
// quick_exit, by syscall(), and by _exit in a signal handler. A vfork child and a fork child that leave by _exit change
// nothing for the parent.
// Env: SIM="kernel work 20000"
// Shell: for how in _exit _Exit quick_exit handler syscall children; do {run} $how || [ $? = 7 ] || exit 1; done
// Expect: status 0
// Expect: stderr empty
// Expect: logs 6
// Expect: log 1: 100 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 2: 100 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 3: 100 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 4: 100 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 5: 100 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 6: 200 kernel_launch, 200 kernel_run, whole, 0 lost
#include "tests/sim/sim_program.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

using namespace sim_program;

static void work() {
  for (int i = 0; i < 100; ++i) SIM_CHECK(launch(kernel("work")));
  SIM_CHECK(cuCtxSynchronize());
}

static void leave_children() {
  int status = 0;
  const pid_t with_our_memory = vfork();
  if (with_our_memory == 0) _exit(3);
  if (waitpid(with_our_memory, &status, 0) < 0 || WEXITSTATUS(status) != 3) std::exit(1);
  const pid_t forked = fork();
  if (forked == 0) _exit(4);
  if (waitpid(forked, &status, 0) < 0 || WEXITSTATUS(status) != 4) std::exit(1);
}

int main(int, char** arguments) {
  const std::string_view how = arguments[1];
  make_context();
  work();
  if (how == "_exit") _exit(7);
  if (how == "_Exit") _Exit(7);
  if (how == "quick_exit") std::quick_exit(7);
  if (how == "handler") {
    signal(SIGUSR1, [](int) { _exit(7); });
    raise(SIGUSR1);
  }
#if defined(__x86_64__)
  if (how == "syscall") syscall(SYS_exit_group, 7);
#else
  if (how == "syscall") _exit(7);
#endif
  leave_children();
  work();
  _exit(7);
}
