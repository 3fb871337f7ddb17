// A static constructor launches on another thread and waits for it, before main, while the recorder starts.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: log 1: 3 kernel_launch(early), whole, 0 lost
#include "tests/sim/sim_program.h"

#include <thread>

struct Early {
  Early() {
    std::thread([] {
      sim_program::make_context();
      const CUfunction function = sim_program::kernel("early");
      for (int i = 0; i < 3; ++i) SIM_CHECK(sim_program::launch(function));
    }).join();
  }
};
static Early early;
int main() {}
