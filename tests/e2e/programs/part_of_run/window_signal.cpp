// PROF_START=signal: the first SIGUSR2 starts the recording, the next one stops it while the program runs on. If the
// recording started at once, the first SIGUSR2 stops it.
// Env: PROF_SIGNAL=USR2
// Shell: PROF_START=signal {run} && {run} now
// Expect: status 0
// Expect: stderr empty
// Expect: logs 2
// Expect: log 1: 5 kernel_launch(inside), 5 kernel_launch, 5 kernel_run, whole, 0 lost, text meta key="recording_ended" value="signal"
// Expect: trace: 13 x "ph":"f",.*"cat":"ac2g"
// Expect: log 2: 3 kernel_launch(before), 5 kernel_launch(inside), 8 kernel_launch, 8 kernel_run, whole, 0 lost
#include "preload/format/block.h"
#include "tests/sim/sim_program.h"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

using namespace sim_program;

// Whether every log is closed, which shows that the helper thread has seen the signal.
static bool closed() {
  for (const auto& entry : std::filesystem::directory_iterator(getenv("E2E_DIR"))) {
    if (entry.path().extension() != ".plog") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    prof::format::CounterPage page;
    file.seekg(prof::format::kCounterPageOffset);
    if (!file.read(reinterpret_cast<char*>(&page), sizeof page) || page.finished == 0) return false;
  }
  return true;
}

int main(int argc, char**) {
  make_context();
  const CUfunction before = kernel("before"), inside = kernel("inside"), after = kernel("after");
  for (int i = 0; i < 3; ++i) SIM_CHECK(launch(before));
  if (argc == 1) raise(SIGUSR2);
  for (int i = 0; i < 5; ++i) SIM_CHECK(launch(inside));
  SIM_CHECK(cuCtxSynchronize());
  raise(SIGUSR2);
  for (int tries = 0; tries < 300 && !closed(); ++tries) usleep(10'000);
  for (int i = 0; i < 1000; ++i) SIM_CHECK(launch(after));
  SIM_CHECK(cuCtxSynchronize());
}
