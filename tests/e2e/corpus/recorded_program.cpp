// A program for the flight recorder (ring.py): an NVTX range "run" around everything, in it ranges "round" with
// launches of "steady". Usage: recorded_program END [ASKED]. It runs until the file END exists. It does once what the
// file ASKED contains: mark (the NVTX mark "here"), stop (cudaProfilerStop), signal (SIGUSR2), slow (launches that wait
// for the GPU).
#include "tests/sim/sim_program.h"

#include <cudaProfiler.h>
#include <nvtx3/nvToolsExt.h>

#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>

using namespace sim_program;

static void do_as(const char* file) {
  std::ifstream stream(file);
  std::string what;
  stream >> what;
  if (what.empty()) return;
  unlink(file);
  if (what == "mark") nvtxMarkA("here");
  if (what == "stop") SIM_CHECK(cuProfilerStop());
  if (what == "signal") raise(SIGUSR2);
  if (what == "slow") {
    const CUfunction function = kernel("late");
    for (int i = 0; i < 6; ++i)
      SIM_CHECK(launch(function));  // ring.py allows four launches in the queue, and each of them takes 0.4 s
  }
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  make_context();
  nvtxRangePushA("run");
  const CUfunction early = kernel("early"), function = kernel("steady");
  SIM_CHECK(launch(early));
  SIM_CHECK(cuCtxSynchronize());
  std::printf("%d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
  long launches = 1;
  while (access(argv[1], F_OK) != 0) {
    for (int round = 0; round < 20; ++round) {
      nvtxRangePushA("round");
      for (int i = 0; i < 50; ++i, ++launches) SIM_CHECK(launch(function));
      nvtxRangePop();
    }
    SIM_CHECK(cuCtxSynchronize());
    if (argc > 2 && access(argv[2], F_OK) == 0) do_as(argv[2]);
  }
  nvtxRangePop();
  std::printf("%ld\n", launches);
}
