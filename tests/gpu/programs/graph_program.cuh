// Shared by the programs that build CUDA graphs: kernels that count their runs, the expectations for each (how often it
// runs, and by which thread inside which NVTX ranges it was captured or added), and the JSON output of them.
#pragma once

#include "check.cuh"

#include <nvtx3/nvToolsExt.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#define KERNEL(name) \
  extern "C" __global__ void name(unsigned long long* total) { atomicAdd(total, 1ull); }

namespace {

struct Expected {
  long runs = 0;
  long thread = 0;
  std::string path;
};

std::mutex g_mutex;
std::map<std::string, Expected> g_expected;  // by kernel
std::atomic<long> g_graph_launches{0}, g_captured_launches{0};
long g_copies = 0, g_fills = 0, g_device_runs = 0;
unsigned long long* g_total = nullptr;
thread_local std::vector<std::string> t_path;

long thread_id() { return static_cast<long>(syscall(SYS_gettid)); }

struct Range {
  explicit Range(const char* name) {
    nvtxRangePushA(name);
    t_path.emplace_back(name);
  }
  ~Range() {
    nvtxRangePop();
    t_path.pop_back();
  }
};

// Call it where the kernel is captured or added.
void expect(const char* kernel, long runs) {
  std::string path;
  for (const std::string& part : t_path) path += (path.empty() ? "" : "/") + part;
  const std::lock_guard<std::mutex> lock(g_mutex);
  Expected& expected = g_expected[kernel];
  expected.runs += runs;
  expected.thread = thread_id();
  expected.path = path;
}

using Kernel = void (*)(unsigned long long*);
void capture(cudaStream_t stream, Kernel kernel, const char* name, long runs) {
  kernel<<<1, 1, 0, stream>>>(g_total);
  CHECK(cudaGetLastError());
  ++g_captured_launches;
  expect(name, runs);
}
#define CAPTURE(stream, kernel, runs) capture(stream, kernel, #kernel, runs)

void launch(cudaGraphExec_t exec, cudaStream_t stream, long times = 1) {
  for (long i = 0; i < times; ++i) CHECK(cudaGraphLaunch(exec, stream));
  g_graph_launches += times;
}

cudaGraphExec_t instantiate(cudaGraph_t graph, unsigned long long flags = 0) {
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, flags));
  return exec;
}

struct Streams {
  cudaStream_t main = nullptr, fork = nullptr;
  cudaEvent_t forked = nullptr, joined = nullptr;
  Streams() {
    CHECK(cudaStreamCreateWithFlags(&main, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&fork, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
  }
};

cudaGraph_t capture_one(Streams& s, Kernel kernel, const char* name, long runs) {
  CHECK(cudaStreamBeginCapture(s.main, cudaStreamCaptureModeThreadLocal));
  capture(s.main, kernel, name, runs);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(s.main, &graph));
  return graph;
}
#define CAPTURE_ONE(s, kernel, runs) capture_one(s, kernel, #kernel, runs)

void print(unsigned long long total) {
  std::printf("{\"graph_launches\": %ld, \"captured_launches\": %ld, \"copies\": %ld, \"fills\": %ld, \"device_runs\": %ld, ",
              g_graph_launches.load(), g_captured_launches.load(), g_copies, g_fills, g_device_runs);
  std::printf("\"total\": %llu, \"kernels\": {", total);
  const char* comma = "";
  for (const auto& [name, expected] : g_expected) {
    std::printf("%s\"%s\": {\"runs\": %ld, \"path\": \"%s\", \"main_thread\": %s}", comma, name.c_str(), expected.runs,
                expected.path.c_str(), expected.thread == getpid() ? "true" : "false");
    comma = ", ";
  }
  std::printf("}}\n");
}

// A whole program: `build` makes and launches the graphs, then the expectations are printed. Returns the exit status.
int run_graphs(void (*build)(Streams&)) {
  CHECK(cudaMalloc(&g_total, 2 * sizeof *g_total));
  CHECK(cudaMemset(g_total, 0, 2 * sizeof *g_total));
  ++g_fills;
  Streams s;
  build(s);
  unsigned long long total = 0;
  CHECK(cudaMemcpy(&total, g_total, sizeof total, cudaMemcpyDeviceToHost));
  ++g_copies;
  CHECK(cudaDeviceSynchronize());
  print(total);
  return 0;
}

}  // namespace
