// Threads with a stream each that launch more than the GPU finishes; one of them rests now and then, so that its stream
// gets no further completion mark. Each launch is timed or marked as one that may have no time.
// Env: PROF_BUDGET=10% SIM_CLOCK=real SIM="timed;kernel small 300000;kernel large 5000000"
// Expect: status 0
// Expect: stderr empty
// Expect: report gpu-trace: coverage: launches \d+, with GPU time [1-9]\d* .GPU times off \d+.; GPU operations .*lost records 0; PROF_BUDGET=10%
#include "tests/sim/sim_program.h"

#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

int main() {
  const CUcontext context = sim_program::make_context();
  const CUfunction small = sim_program::kernel("small"), large = sim_program::kernel("large");
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([=] {
      SIM_CHECK(cuCtxSetCurrent(context));
      const CUstream stream = sim_program::make_stream();
      for (int n = 1; std::chrono::steady_clock::now() < until; ++n) {
        SIM_CHECK(sim_program::launch(n % 50 == 0 ? large : small, stream));
        usleep(i == 0 && n % 100 == 0 ? 100'000 : 300);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}
