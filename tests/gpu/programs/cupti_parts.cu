// CUPTI alone, enabled and disabled again and again: what state remains, and does the program survive? One process for
// each answer.
//   cupti_parts cost PARTS                  ns per launch before, while CUPTI collects, after 1, 10, 100 … parts, and
//                                           after cuptiFinalize
//   cupti_parts part HOW GRAPHS SECONDS     six threads launch; HOW: "disable" after each part, "forced": a forced
//                                           flush before that, "kept": that flush only, or also finalise: "paused"
//                                           while all threads wait, "running" while the others go on. GRAPHS: half of
//                                           the threads launch graphs that are older than the first part
//   cupti_parts whole SECONDS               the same with "disable", and graphs are timed as a whole
// Prints words and values, "failed none" or the first call that failed; a crash is the status. CUPTI is
// CUPTI_BASELINE_LIB or the one that the loader finds.
#include "launcher.cuh"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

#define CUPTI_FUNCTIONS(F)                                                                                             \
  F(cuptiActivityRegisterTimestampCallback)                                                                           \
  F(cuptiActivityRegisterCallbacks)                                                                                   \
  F(cuptiActivityEnable)                                                                                              \
  F(cuptiActivityDisable)                                                                                             \
  F(cuptiActivityEnableDriverApi) F(cuptiActivityFlushAll) F(cuptiActivityGetNextRecord) F(cuptiFinalize)
#include "cupti_alone.cuh"

using Clock = std::chrono::steady_clock;
static double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

static std::vector<uint32_t> g_kernels;         // correlation ids since the last count
static std::unordered_set<uint32_t> g_calls;

static void CUPTIAPI completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  CUpti_Activity* record = nullptr;
  while (valid != 0 && g_cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      g_kernels.push_back(reinterpret_cast<CUpti_ActivityKernel10*>(record)->correlationId);
    if (record->kind == CUPTI_ACTIVITY_KIND_DRIVER) g_calls.insert(reinterpret_cast<CUpti_ActivityAPI*>(record)->correlationId);
  }
  g_free.push_back(buffer);
}

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
                                         CUPTI_ACTIVITY_KIND_MEMCPY2};
constexpr CUpti_driver_api_trace_cbid kCalls[] = {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
                                                  CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
                                                  CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async};
static bool g_whole = false, g_forced = false, g_kept = false;
static void register_with_cupti() {
  g_cupti.cuptiActivityRegisterTimestampCallback(clock_ns);
  g_cupti.cuptiActivityRegisterCallbacks(requested, completed);
}
static void begin_part() {
  if (g_whole) g_cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  for (const CUpti_ActivityKind kind : kKinds) g_cupti.cuptiActivityEnable(kind);
  for (const CUpti_driver_api_trace_cbid call : kCalls) g_cupti.cuptiActivityEnableDriverApi(call, 1);
}
static void end_part() {
  g_cupti.cuptiActivityFlushAll(0);
  if (g_forced) g_cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  if (g_kept) return;
  for (const CUpti_ActivityKind kind : kKinds) g_cupti.cuptiActivityDisable(kind);
  if (g_whole) g_cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  for (const CUpti_driver_api_trace_cbid call : kCalls) g_cupti.cuptiActivityEnableDriverApi(call, 0);
  g_cupti.cuptiActivityFlushAll(0);
}

static double launch_ns() {  // median of 60 batches
  constexpr int kLaunches = 500;
  std::vector<double> ns;
  for (int batch = 0; batch < 60; ++batch) {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < kLaunches; ++i) small_kernel<<<1, 32>>>(nullptr);
    ns.push_back(seconds_since(begin) * 1e9 / kLaunches);
    CHECK(cudaDeviceSynchronize());
  }
  std::sort(ns.begin(), ns.end());
  return ns[ns.size() / 2];
}

static int cost(int parts) {
  CHECK(cudaFree(nullptr));
  launch_ns();
  std::printf("plain %.0f ", launch_ns());
  begin_part();
  std::printf("inside %.0f ", launch_ns());
  end_part();
  for (int part = 1, next = 1; part <= parts; ++part) {
    if (part != 1) {
      begin_part();
      for (int i = 0; i < 10; ++i) small_kernel<<<1, 32>>>(nullptr);
      CHECK(cudaDeviceSynchronize());
      end_part();
    }
    if (part == next) std::printf("after_%d %.0f ", part, launch_ns()), next *= 10;
  }
  g_cupti.cuptiFinalize();
  std::printf("finalized %.0f\n", launch_ns());
  return 0;
}

static std::atomic<bool> g_over{false};
static std::atomic<const char*> g_failed{nullptr};
// Returns false after a call of any thread has failed.
static bool good(cudaError_t result, const char* call) {
  const char* none = nullptr;
  if (result != cudaSuccess) g_failed.compare_exchange_strong(none, call);
  return g_failed == nullptr;
}

static int parts(bool finalises, bool pauses, bool graphs, double limit_s) {
  CHECK(cudaFree(nullptr));
  constexpr int kThreads = 6;
  std::vector<Launcher> launchers;
  for (int i = 0; i < kThreads; ++i) launchers.emplace_back(graphs && i % 2 == 0);
  pthread_barrier_t begin, end;
  pthread_barrier_init(&begin, nullptr, kThreads + 1);
  pthread_barrier_init(&end, nullptr, kThreads + 1);
  std::vector<std::thread> threads;
  for (Launcher& launcher : launchers) {
    threads.emplace_back([&] {
      for (;;) {
        if (pauses) pthread_barrier_wait(&begin);
        if (g_over) return;
        launcher.round(good);
        if (pauses) pthread_barrier_wait(&end);
      }
    });
  }
  int done = 0;
  size_t kernels = 0, named = 0, first_kernels = 0, first_named = 0;
  for (const Clock::time_point start = Clock::now(); seconds_since(start) < limit_s && g_failed == nullptr; ++done) {
    if (done != 0 && finalises) register_with_cupti();
    begin_part();
    if (pauses) {
      pthread_barrier_wait(&begin);
      pthread_barrier_wait(&end);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    end_part();
    if (finalises) g_cupti.cuptiFinalize();
    const std::lock_guard<std::mutex> lock(g_mutex);
    for (const uint32_t id : g_kernels) (done == 0 ? first_named : named) += g_calls.count(id);
    (done == 0 ? first_kernels : kernels) += g_kernels.size();
    g_kernels.clear(), g_calls.clear();
  }
  g_over = true;
  if (pauses) pthread_barrier_wait(&begin);
  for (std::thread& thread : threads) thread.join();
  good(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const char* const failed = g_failed;
  std::printf("parts %d first_kernels %zu first_named %zu kernels %zu named %zu failed %s\n", done, first_kernels, first_named, kernels, named,
              failed != nullptr ? failed : "none");
  std::fflush(stdout);
  _Exit(0);  // CUPTI may still have buffers
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  open_cupti();
  register_with_cupti();
  // otherwise no record of a driver call ever has a name
  g_cupti.cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuInit, 1);
  if (std::strcmp(argv[1], "cost") == 0) return cost(std::atoi(argv[2]));
  g_whole = std::strcmp(argv[1], "whole") == 0;
  if (g_whole) return parts(false, false, true, std::atof(argv[2]));
  if (argc < 5) return 2;
  const bool pauses = std::strcmp(argv[2], "paused") == 0, finalises = pauses || std::strcmp(argv[2], "running") == 0;
  g_kept = std::strcmp(argv[2], "kept") == 0;
  g_forced = std::strcmp(argv[2], "disable") != 0;
  return parts(finalises, pauses, std::atoi(argv[3]) != 0, std::atof(argv[4]));
}
