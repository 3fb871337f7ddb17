// A log that is full: every call is recorded or counted as lost, also on other threads and in NVTX. CUPTI collects
// nothing more. The recorder's thread has ended.
// Env: PROF_MAX_SIZE=256K PROF_DEPTH=counts
// Shell: PROF_GPU=off {run}; echo status $?; {run} gpu 2> /dev/null; echo status $?; ulimit -f 300; PROF_MAX_SIZE=8G PROF_GPU=off {run} 2> /dev/null; echo status $?
// Expect: status 0
// Expect: stdout status 0
// Expect: stderr once the log is full (disk, quota, PROF_MAX_SIZE or ulimit -f)
// Expect: logs 3
// Expect: log 1: >=100 kernel_launch(kernel), whole, size < 262145, >=100100 kernel_launch + nvtx_push + nvtx_mark + records_dropped_full, <100200 kernel_launch + nvtx_push + nvtx_mark + records_dropped_full, counter log_extend_failed 1
// Expect: log 2: >=100 kernel_launch(kernel), whole, counter records_dropped_full >=50000
// Expect: log 3: >=100 kernel_launch(kernel), whole, >=100100 kernel_launch + nvtx_push + nvtx_mark + records_dropped_full, <100200 kernel_launch + nvtx_push + nvtx_mark + records_dropped_full
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExt.h>
#include <time.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace {

bool recorder_has_thread() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name == "libprof") return true;
  }
  return false;
}

}  // namespace

int main(int argc, char**) {
  const CUcontext context = sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  const auto work = [&](int launches, int marks) {
    for (int i = 0; i < launches; ++i) SIM_CHECK(sim_program::launch(function));
    for (int i = 0; i < marks; ++i) nvtxMarkA("mark");
  };
  work(20000, 0);
  std::thread([&] {
    SIM_CHECK(cuCtxSetCurrent(context));
    work(20000, 0);
  }).join();
  const timespec pause{0, 10'000'000};
  for (int i = 0; i < 1000 && recorder_has_thread(); ++i) nanosleep(&pause, nullptr);
  if (recorder_has_thread()) return 2;
  work(20000, 20000);
  std::thread([&] {
    SIM_CHECK(cuCtxSetCurrent(context));
    work(10000, 10100);
  }).join();
  if (argc > 1) SIM_CHECK(cuCtxSynchronize());
  return 0;
}
