// PROF_RING that is not valid: one line, and the log keeps everything, as without it. PROF_SIGNAL then ends the
// recording once.
// Env: PROF_GPU=off PROF_PARTS=0 PROF_SIGNAL=USR2 PROF_RING=junk
// Expect: status 0
// Expect: stderr once libprof: PROF_RING is not valid, expected BYTES|SECONDSs|off; the default is used
// Expect: stderr once libprof:
// Expect: logs 1
// Expect: log 1: 5 kernel_launch(inside), 5 kernel_launch, whole, 0 lost, text meta key="recording_ended" value="signal"
#include "preload/format/block.h"
#include "tests/sim/sim_program.h"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

using namespace sim_program;

static bool closed() {
  for (const auto& entry : std::filesystem::directory_iterator(getenv("E2E_DIR"))) {
    if (entry.path().extension() != ".plog") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    prof::format::CounterPage page;
    file.seekg(prof::format::kCounterPageOffset);
    if (file.read(reinterpret_cast<char*>(&page), sizeof page) && page.finished != 0) return true;
  }
  return false;
}

int main() {
  make_context();
  const CUfunction inside = kernel("inside"), after = kernel("after");
  for (int i = 0; i < 5; ++i) SIM_CHECK(launch(inside));
  raise(SIGUSR2);
  for (int tries = 0; tries < 300 && !closed(); ++tries) usleep(10'000);
  for (int i = 0; i < 5; ++i) SIM_CHECK(launch(after));
}
