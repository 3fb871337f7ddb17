// Hardware counters under load: threads launch on their own streams and on the same one, capture, launch graphs, make
// and destroy contexts, while recordings start and stop. No call fails, so no wait of the recorder happened during a
// capture. Every launch of every log has values or a counted reason, except for launches that are in progress when a
// recording stops.
// Env: PROF_COUNTERS=memory PROF_FLUSH=0.02 PROF_START=profiler PROF_PARTS=0 SIM="kernel kernel 5000"
// Expect: status 0
// Expect: stderr empty
// Expect: logs >=5
// Expect: log 1: launches accounted but 4, whole
// Expect: log 2: launches accounted but 4, whole
// Expect: log 3: launches accounted but 4, whole
// Expect: log 4: launches accounted but 4, whole
// Expect: log 5: launches accounted but 4, whole
#include "tests/sim/sim_program.h"

#include <cudaProfiler.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

using namespace sim_program;

static std::atomic<bool> g_over{false};

static void capture_and_launch(CUfunction function) {
  const CUstream stream = make_stream();
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  SIM_CHECK(launch(function, stream));
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  SIM_CHECK(launch(function, stream));
  CUgraph graph;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
  SIM_CHECK(cuGraphExecDestroy(exec));
  SIM_CHECK(cuGraphDestroy(graph));
  SIM_CHECK(cuStreamDestroy(stream));
}

static void use_a_context() {
  CUcontext context = nullptr;
  SIM_CHECK(cuCtxCreate(&context, nullptr, 0, 1));
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  SIM_CHECK(cuModuleLoadData(&module, "image"));
  SIM_CHECK(cuModuleGetFunction(&function, module, "kernel"));
  for (int i = 0; i < 20; ++i) SIM_CHECK(launch(function));
  SIM_CHECK(cuCtxDestroy(context));
}

int main() {
  const CUcontext context = make_context();
  const CUfunction function = kernel("kernel");
  std::vector<std::thread> threads;
  const auto run = [&](std::function<void()> work) {
    threads.emplace_back([=] {
      SIM_CHECK(cuCtxSetCurrent(context));
      while (!g_over.load()) work();
    });
  };
  const CUstream stream = make_stream();
  run([=] { SIM_CHECK(launch(function, stream)); });
  run([=] { SIM_CHECK(launch(function, stream)); });
  run([=] { capture_and_launch(function); });
  threads.emplace_back([] {
    while (!g_over.load()) use_a_context();
  });
  for (int part = 0; part < 6; ++part) {
    SIM_CHECK(cuProfilerStart());
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    SIM_CHECK(cuProfilerStop());
  }
  g_over = true;
  for (std::thread& thread : threads) thread.join();
}
