// A program without CUDA starts children in every way: each child that launches has its own whole log, the parent has
// none.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: logs 6
// Expect: log 1: 5 kernel_launch(by_fork), 5 kernel_launch, whole, 0 lost
// Expect: log 2: 5 kernel_launch(by_clone), 5 kernel_launch, whole, 0 lost
// Expect: log 3: 5 kernel_launch(by_vfork), 5 kernel_launch, whole, 0 lost
// Expect: log 4: 5 kernel_launch(by_posix_spawn), 5 kernel_launch, whole, 0 lost
// Expect: log 5: 5 kernel_launch(by_system), 5 kernel_launch, whole, 0 lost
// Expect: log 6: 5 kernel_launch(by_daemon), 5 kernel_launch, whole, 0 lost
#include "tests/sim/sim_program.h"

#include <sched.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

extern char** environ;

static int launch_five(const char* name) {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel(name);
  for (int i = 0; i < 5; ++i) SIM_CHECK(sim_program::launch(function));
  return 0;
}

static bool ended_well(pid_t child) {
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

// A grandchild in its own session; the end of the pipe reports when it has ended.
static bool daemonise() {
  int over[2];
  if (pipe(over) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    close(over[0]);
    setsid();
    if (fork() == 0) exit(launch_five("by_daemon"));
    _exit(0);
  }
  close(over[1]);
  char byte = 0;
  return ended_well(child) && read(over[0], &byte, 1) == 0;
}

int main(int argc, char** argv) {
  if (argc > 1) return launch_five(argv[1]);
  pid_t child = fork();
  if (child == 0) exit(launch_five("by_fork"));
  if (!ended_well(child)) return 1;
  child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) exit(launch_five("by_clone"));
  if (!ended_well(child)) return 2;
  child = vfork();
  if (child == 0) {
    execl(argv[0], argv[0], "by_vfork", nullptr);
    _exit(9);
  }
  if (!ended_well(child)) return 3;
  char name[] = "by_posix_spawn";
  char* const arguments[] = {argv[0], name, nullptr};
  if (posix_spawn(&child, argv[0], nullptr, nullptr, arguments, environ) != 0 || !ended_well(child)) return 4;
  if (system((std::string(argv[0]) + " by_system").c_str()) != 0) return 5;
  return daemonise() ? 0 : 6;
}
