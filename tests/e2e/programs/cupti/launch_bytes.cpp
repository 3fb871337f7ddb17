// A launch takes at most 24 bytes of the log's file, with the CUPTI of today and with one older than CUDA 12.5, of one
// thread and of several, also if other calls between the launches take correlation ids. The times are virtual: they are
// as long as on a GPU. Several threads may leave blocks in part empty: 64 KiB of the limit.
// Env: PROF_CLOCK=sim_now_ns
// Link: runtime
// Shell: for sim in "" "cupti no_driver_api;"; do for how in "1 0" "1 2" "1 mixed" "4 0" "4 mixed"; do SIM="$sim api cuLaunchKernel 2300; kernel * 1700" {run} $how || exit; done; done; grep -la "every call" {dir}/*.plog | wc -l
// Expect: status 0
// Expect: stdout 5
// Expect: stderr empty
// Expect: logs 10
// Expect: log 1: 60000 kernel_launch, 60000 kernel_run, size < 1505536, whole, 0 lost
// Expect: log 2: 60000 kernel_launch, 60000 kernel_run, size < 1505536, whole, 0 lost
// Expect: log 3: 60000 kernel_launch, 60000 kernel_run, size < 1505536, whole, 0 lost
// Expect: log 4: 60000 kernel_launch, 60000 kernel_run, size < 1505536, whole, 0 lost
// Expect: log 5: 60000 kernel_launch, 60000 kernel_run, size < 1505536, whole, 0 lost
// Expect: log 6: 60000 kernel_launch, 60000 kernel_run, size < 1505536, whole, 0 lost
// Expect: log 7: 60000 kernel_launch, 60000 kernel_run, size < 1505536, whole, 0 lost
// Expect: log 8: 60000 kernel_launch, 60000 kernel_run, size < 1505536, whole, 0 lost
// Expect: log 9: 60000 kernel_launch, 60000 kernel_run, size < 1505536, whole, 0 lost
// Expect: log 10: 60000 kernel_launch, 60000 kernel_run, size < 1505536, whole, 0 lost
// Expect: report gpu-trace: coverage: launches 600000, with GPU time 600000; GPU operations 600000, with launch 600000; .*lost records 0
#include "tests/e2e/programs/linking/runtime_program.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

extern "C" void sim_advance_ns(uint64_t amount);

static void add_stub() {}

// `others`: calls between two launches; negative: 0 to 4, by chance.
static void launches(const void* add, int count, int others, unsigned seed) {
  std::mt19937 random(seed);
  cudaStream_t stream = nullptr;
  RUNTIME_CHECK(cudaStreamCreate(&stream));
  for (int i = 0; i < count; ++i) {
    const unsigned calls = others < 0 ? static_cast<unsigned>(random() % 5) : static_cast<unsigned>(others);
    for (unsigned call = 0; call < calls; ++call) {
      int device = 0;
      RUNTIME_CHECK(cudaGetDevice(&device));
    }
    void* arguments[] = {&stream};
    RUNTIME_CHECK(cudaLaunchKernel(add, dim3(4), dim3(64), arguments, 0, stream));
    sim_advance_ns(150 + random() % 4000);
    if (i % 500 == 499) RUNTIME_CHECK(cudaStreamSynchronize(stream));
  }
  RUNTIME_CHECK(cudaStreamSynchronize(stream));
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const void* const add = runtime_program::kernel(add_stub, "add");
  const int threads = std::atoi(argv[1]);
  const int others = std::strcmp(argv[2], "mixed") == 0 ? -1 : std::atoi(argv[2]);
  void* memory = nullptr;
  RUNTIME_CHECK(cudaMalloc(&memory, 64));
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back(launches, add, 60000 / threads, others, static_cast<unsigned>(t));
  for (std::thread& each : running) each.join();
  return 0;
}
