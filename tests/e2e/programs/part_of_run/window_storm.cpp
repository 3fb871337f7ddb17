// Recordings start and stop while threads launch, push ranges, make and destroy streams, start and end, and while two
// threads start and stop recordings concurrently. Every log is whole and every launch in it has its name; mappings,
// descriptors and threads of the process do not grow from recording to recording. CUPTI is not forced to deliver
// incomplete records.
// Env: PROF_START=profiler PROF_PARTS=0 PROF_STACKS=launch SIM="cupti forced_kills"
// Expect: status 0
// Expect: stderr empty
// Expect: stdout flat
// Expect: logs >=12
// Expect: log 1: whole, text meta key="recording_ended"
// Expect: log 2: whole, text meta key="recording_ended"
// Expect: log 3: whole, text meta key="recording_ended"
// Expect: log 4: whole, text meta key="recording_ended"
// Expect: log 5: whole, text meta key="recording_ended"
// Expect: log 6: whole, text meta key="recording_ended"
// Expect: log 7: whole, text meta key="recording_ended"
// Expect: log 8: whole, text meta key="recording_ended"
// Expect: log 9: whole, text meta key="recording_ended"
// Expect: log 12: whole
// Expect: report kernels: 1 x ,inside
#include "tests/sim/sim_program.h"

#include <cudaProfiler.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using namespace sim_program;

static std::atomic<bool> g_done{false};
static std::atomic<int> g_launches{0};

static void launch_on(CUcontext context, CUfunction function) {
  SIM_CHECK(cuCtxSetCurrent(context));
  for (int i = 0; !g_done.load(); ++i) {
    const CUstream stream = make_stream();
    for (int j = 0; j < 20 && !g_done.load(); ++j) {
      nvtxRangePushA("work");
      SIM_CHECK(launch(function, j % 2 == 0 ? stream : nullptr));
      nvtxRangePop();
      ++g_launches;
    }
    SIM_CHECK(cuStreamSynchronize(stream));
    SIM_CHECK(cuStreamDestroy(stream));
    usleep(500);
  }
}

static size_t entries(const char* folder) {
  size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++n;
  return n;
}
static size_t logs() {
  size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator(getenv("E2E_DIR")))
    n += entry.path().extension() == ".plog";
  return n;
}
static size_t mappings() {
  std::ifstream file("/proc/self/maps");
  size_t n = 0;
  for (std::string line; std::getline(file, line);) ++n;
  return n;
}

int main() {
  const CUcontext context = make_context();
  const CUfunction function = kernel("inside");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(launch_on, context, function);
  threads.emplace_back([&] {  // short-lived threads
    while (!g_done.load()) {
      std::thread([&] {
        SIM_CHECK(cuCtxSetCurrent(context));
        SIM_CHECK(launch(function));
      }).join();
      usleep(1000);
    }
  });
  size_t maps_before = 0, files_before = 0;
  constexpr int kParts = 12;
  for (int part = 0; part < kParts; ++part) {
    const size_t logs_before = logs();
    SIM_CHECK(cuProfilerStart());
    // the previous recording may still be stopping
    for (int i = 0; i < 2000 && logs() == logs_before; ++i) usleep(5000);
    if (part == 6) {
      maps_before = mappings();
      files_before = entries("/proc/self/fd");
    }
    for (const int until = g_launches.load() + 50; g_launches.load() < until;) usleep(200);
    std::thread against([] {
      cuProfilerStart();
      cuProfilerStop();
    });
    SIM_CHECK(cuProfilerStop());
    against.join();
    cuProfilerStop();
  }
  const size_t maps_after = mappings(), files_after = entries("/proc/self/fd");
  g_done.store(true);
  for (std::thread& thread : threads) thread.join();
  // The stack and the arena of a thread come and go.
  const bool flat = maps_after < maps_before + 40 && files_after <= files_before;
  std::printf("%s: %zu and %zu mappings, %zu and %zu descriptors\n", flat ? "flat" : "growing", maps_before, maps_after,
              files_before, files_after);
}
