// Six threads launch, three of them also graphs, while cudaProfilerStart and cudaProfilerStop alternate: parts_threads
// PARTS SECONDS. Prints "parts N launches M", the number of parts and of launches; status 100 if a call of the program
// failed.
#include "launcher.cuh"

#include <cuda_profiler_api.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

static std::atomic<bool> g_over{false};
static std::atomic<long> g_launches{0};

static bool good(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return true;
  std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(result));
  std::exit(100);
}

static void work(bool graphs) {
  Launcher launcher(graphs);
  while (!g_over) {
    launcher.round(good);
    g_launches += Launcher::kKernels;
  }
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int parts = std::atoi(argv[1]);
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(argv[2]));
  CHECK(cudaFree(nullptr));
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) threads.emplace_back(work, i % 2 == 0);
  int part = 0;
  for (; part < parts && std::chrono::steady_clock::now() < until; ++part) {
    CHECK(cudaProfilerStart());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(cudaProfilerStop());
  }
  g_over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(cudaDeviceSynchronize());
  std::printf("parts %d launches %ld\n", part, g_launches.load());
  return 0;
}
