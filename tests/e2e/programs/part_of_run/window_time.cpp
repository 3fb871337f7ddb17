// PROF_DELAY and PROF_DURATION: only the middle of the program is recorded, and its log is closed while the program
// runs on.
// Env: PROF_DELAY=0.4 PROF_DURATION=0.4 SIM_CLOCK=real
// Expect: status 0
// Expect: stderr empty
// Expect: stdout closed
// Expect: logs 1
// Expect: log 1: no kernel_launch(early), >=5 kernel_launch(middle), no kernel_launch(late), whole, 0 lost
// Expect: log 1: text meta key="recording_ended" value="PROF_DURATION"
#include "preload/format/block.h"
#include "tests/sim/sim_program.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

// CounterPage::finished of the only log.
static bool log_closed() {
  for (const auto& entry : std::filesystem::directory_iterator(getenv("E2E_DIR"))) {
    if (entry.path().extension() != ".plog") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    prof::format::CounterPage page;
    file.seekg(prof::format::kCounterPageOffset);
    return file.read(reinterpret_cast<char*>(&page), sizeof page) && page.finished != 0;
  }
  return false;
}

int main() {
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  sim_program::make_context();
  const CUfunction early = sim_program::kernel("early"), middle = sim_program::kernel("middle"),
                   late = sim_program::kernel("late");
  for (double now = 0; now < 4; now = seconds()) {
    SIM_CHECK(sim_program::launch(now < 0.3 ? early : now < 3 ? middle : late));
    SIM_CHECK(cuCtxSynchronize());
    usleep(10'000);
    if (now > 1 && now < 3 && log_closed()) break;
  }
  std::printf(log_closed() ? "closed\n" : "open\n");
  SIM_CHECK(sim_program::launch(late));
}
