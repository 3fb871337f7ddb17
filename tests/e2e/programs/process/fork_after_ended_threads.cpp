// Threads that ended leave the rest of their chunks for other threads. A forked child must not use these, because they
// lie in its parent's log: both logs are whole, and the child's has all of its calls.
// Env: SIM='kernel parent 1000'
// Expect: status 0
// Expect: logs 2
// Expect: log 1: 3001 kernel_launch(parent), whole, 0 lost
// Expect: log 2: 150 api_call(cuInit), no kernel_launch, whole, 0 lost
#include "tests/sim/sim_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

int main() {
  const CUcontext context = sim_program::make_context();
  const CUfunction function = sim_program::kernel("parent");
  SIM_CHECK(sim_program::launch(function));
  for (int t = 0; t < 2; ++t) {
    std::thread([&] {
      SIM_CHECK(cuCtxSetCurrent(context));
      for (int i = 0; i < 1500; ++i) SIM_CHECK(sim_program::launch(function));
    }).join();
  }
  const pid_t child = fork();
  if (child == 0) {
    for (int t = 0; t < 3; ++t) {
      std::thread([] {
        for (int i = 0; i < 50; ++i) cuInit(0);  // fails in a child of a process that used the driver
      }).join();
    }
    return 0;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}
