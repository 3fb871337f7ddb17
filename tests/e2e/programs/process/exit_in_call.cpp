// A thread is inside a waiting call when the log is closed, and returns afterwards: that call is counted, and so is the
// next one.
// Env: PROF_GPU=off SIM_CLOCK=real
// Expect: status 6
// Expect: log 1: 1 kernel_launch(before), no kernel_launch(behind), no api_call(cuStreamSynchronize), whole, counter after_exit 2
#include "tests/sim/sim_program.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

static std::atomic<bool> waiting, released;
static std::thread waiter;

// Registered before the recorder's handler, so it runs after that one.
static void go_on() {
  released = true;
  waiter.join();
}

int main() {
  at_quick_exit(go_on);
  const CUcontext context = sim_program::make_context();
  const CUstream stream = sim_program::make_stream();
  const CUfunction before = sim_program::kernel("before"), behind = sim_program::kernel("behind");
  waiter = std::thread([&] {
    SIM_CHECK(cuCtxSetCurrent(context));
    SIM_CHECK(sim_program::launch(before, stream));
    const CUhostFn hold = [](void*) {
      while (!released) usleep(1000);
    };
    SIM_CHECK(cuLaunchHostFunc(stream, hold, nullptr));
    waiting = true;
    SIM_CHECK(cuStreamSynchronize(stream));
    SIM_CHECK(sim_program::launch(behind, stream));
  });
  while (!waiting) usleep(1000);
  usleep(100'000);
  std::quick_exit(6);
}
