// Eight threads fork and wait while others launch; every child ends with its own exit status. Each child uses the
// loader, which hangs if another thread of the parent was inside it at the fork.
#include "tests/sim/sim_program.h"

#include <link.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <thread>
#include <vector>

int main() {
  const CUcontext context = sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  std::atomic<long> sum{0};
  std::atomic<int> forking{8};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        const pid_t child = fork();
        if (child == 0) {
          dl_iterate_phdr([](dl_phdr_info*, size_t, void*) { return 1; }, nullptr);
          _exit((t * 25 + i) % 100);
        }
        int status = 0;
        if (waitpid(child, &status, 0) == child && WIFEXITED(status)) sum += WEXITSTATUS(status);
      }
      --forking;
    });
  }
  threads.emplace_back([&] {
    SIM_CHECK(cuCtxSetCurrent(context));
    while (forking != 0) SIM_CHECK(sim_program::launch(function));
  });
  for (std::thread& thread : threads) thread.join();
  std::printf("sum of statuses %ld\n", sum.load());
}
