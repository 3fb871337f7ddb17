// The start of the recorder takes 60 ms, because the program's clock needs as long for its first answer. Calls of other
// threads wait for it at most 2 ms. Then they go on and are counted, with the time in which calls were lost.
// Link: driver shim
// Env: PROF_GPU=off PROF_CLOCK=slow_clock
// Expect: status 0
// Expect: stdout 2 threads went on during the start
// Expect: logs 1
// Expect: log 1: 201 nvtx_mark + before_ready, counter before_ready 198, whole
// Expect: report nvtx: before_ready 198 \(2 threads, at most [1-6][0-9]\.[0-9]+ ms
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

using namespace sim_program;

extern "C" bool clock_is_being_read();

static std::atomic<bool> g_started{false};
static std::atomic<int> g_went_on{0};

static void call_during_the_start() {
  while (!clock_is_being_read()) usleep(100);
  for (int i = 0; i < 99; ++i) nvtxMarkA("during the start");
  if (!g_started) ++g_went_on;
  while (!g_started) usleep(100);
  nvtxMarkA("after it");
}

int main() {
  std::thread one(call_during_the_start), two(call_during_the_start);
  nvtxMarkA("first");
  g_started = true;
  one.join();
  two.join();
  std::printf("%d threads went on during the start\n", g_went_on.load());
}
