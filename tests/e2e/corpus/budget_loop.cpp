// Launches two kernels and fills of different sizes for argv[1] seconds, with a pause of argv[2] µs after each. Prints
// the number of each and the number of filled bytes. argv[3]: "fork": a child launches too, from the middle on;
// "threads": two other threads only launch, each into its own stream; "deep": the program only launches the small
// kernel, forty times in a row, and then waits for them.
#include "tests/sim/sim_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

using namespace sim_program;

int main(int, char** argv) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(argv[1]));
  const auto half = until - std::chrono::duration<double>(std::atof(argv[1]) / 2);
  const unsigned pause = static_cast<unsigned>(std::atoi(argv[2]));
  const bool deep = argv[3] != nullptr && std::strcmp(argv[3], "deep") == 0;
  bool forks = argv[3] != nullptr && std::strcmp(argv[3], "fork") == 0;
  make_context();
  const CUfunction small = kernel("small"), large = kernel("large");
  const CUstream stream = make_stream();
  constexpr size_t kMost = 4 << 20;
  const CUdeviceptr memory = allocate(kMost);
  std::mt19937 random(static_cast<unsigned>(getpid()));
  uint64_t counts[3] = {}, bytes = 0, by_thread[2] = {};
  std::vector<std::thread> others;
  for (uint64_t* count : {&by_thread[0], &by_thread[1]}) {
    if (argv[3] == nullptr || std::strcmp(argv[3], "threads") != 0) break;
    others.emplace_back([&, count, own = make_stream()] {
      for (; std::chrono::steady_clock::now() < until; ++*count) SIM_CHECK(launch(small, own));
    });
  }
  while (deep && std::chrono::steady_clock::now() < until) {
    for (int i = 0; i < 40; ++i, ++counts[0]) {
      SIM_CHECK(launch(small, stream));
      usleep(pause);
    }
    SIM_CHECK(cuStreamSynchronize(stream));
  }
  while (std::chrono::steady_clock::now() < until) {
    const auto which = random() % 4;
    if (which == 3) {
      const size_t size = random() % kMost + 1;
      SIM_CHECK(cuMemsetD8Async(memory, 0, size, stream));
      ++counts[2], bytes += size;
    } else {
      SIM_CHECK(launch(which == 0 ? large : small, stream));
      ++counts[which == 0 ? 1 : 0];
    }
    if (random() % 64 == 0) SIM_CHECK(cuStreamSynchronize(stream));
    if (pause != 0) usleep(pause);
    if (forks && std::chrono::steady_clock::now() > half) {
      forks = false;
      const pid_t child = fork();
      if (child == 0) {
        launch(small, stream);
        usleep(50'000);
        launch(small, stream);
        _exit(0);
      }
      waitpid(child, nullptr, 0);
    }
  }
  for (std::thread& other : others) other.join();
  counts[0] += by_thread[0] + by_thread[1];
  SIM_CHECK(cuCtxSynchronize());
  std::printf("%llu %llu %llu %llu\n", static_cast<unsigned long long>(counts[0]),
              static_cast<unsigned long long>(counts[1]), static_cast<unsigned long long>(counts[2]),
              static_cast<unsigned long long>(bytes));
}
