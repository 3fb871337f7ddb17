// Launches until the given file exists. `prof ctl` decides what is recorded (ctl.py). With a second argument, a child
// that never uses CUDA runs at the same time and keeps inherited descriptors open; its process id is printed. When the
// file FILE.fork exists, it forks once: the child makes calls too, which CUDA refuses, and its process id is printed.
#include "tests/sim/sim_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>

using namespace sim_program;

int main(int argc, char** argv) {
  make_context();
  const CUfunction function = kernel("inside");
  SIM_CHECK(launch(function));
  if (argc > 2) {
    const pid_t child = fork();
    if (child == 0) {
      while (access(argv[1], F_OK) != 0) usleep(10'000);
      _exit(0);
    }
    std::printf("%d\n", static_cast<int>(child));
    std::fflush(stdout);
  } else {
    std::printf("0\n");
    std::fflush(stdout);
  }
  const std::string fork_file = std::string(argv[1]) + ".fork";
  bool forked = false;
  while (access(argv[1], F_OK) != 0) {
    if (!forked && access(fork_file.c_str(), F_OK) == 0) {
      forked = true;
      const pid_t child = fork();
      while (child == 0) {
        cuInit(0);
        usleep(2'000);
        if (access(argv[1], F_OK) == 0) return 0;
      }
      std::printf("%d\n", static_cast<int>(child));
      std::fflush(stdout);
    }
    SIM_CHECK(launch(function));
    SIM_CHECK(cuCtxSynchronize());
    usleep(2'000);
  }
  while (wait(nullptr) > 0) {}
}
