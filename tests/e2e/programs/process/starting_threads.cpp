// Threads that make NVTX calls together from their first instruction on (drivers/starts.py): starting_threads THREADS
// CALLS
#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

int main(int, char** arguments) {
  const int threads = std::atoi(arguments[1]), calls = std::atoi(arguments[2]);
  std::atomic<int> ready{0};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      for (int j = 0; j < calls / 2; ++j) {
        nvtxRangePushA("range");
        nvtxRangePop();
      }
    });
  }
  for (std::thread& thread : all) thread.join();
}
