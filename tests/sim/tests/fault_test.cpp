// The faults that a script can inject into CUPTI, several threads at once, and the reports of graphs that change.
#include <pthread.h>

#include <atomic>
#include <set>
#include <thread>

#include "tests/sim/sim_program.h"
#include "tests/sim/tests/cupti_seen.h"
#include "tests/sim/tests/in_child.h"

using namespace sim_program;
using namespace cupti_seen;

namespace {

SIM_TEST(CuptiFault, LateBuffersComeAfterTheFlush, "kernel k 100; cupti late 100; cupti worker 5") {
  make_context();
  start(false);
  SIM_CHECK(launch(kernel("k")));
  SIM_CHECK(cuCtxSynchronize());
  EXPECT_EQ(cuptiActivityFlushAll(0), CUPTI_SUCCESS);
  EXPECT_EQ(kernels_seen(), 0u);
  for (int waited = 0; waited < 3000 && kernels_seen() == 0; ++waited) usleep(1000);
  EXPECT_EQ(kernels_seen(), 1u);
}

SIM_TEST(CuptiFault, ALostBufferNeverComesBack, "kernel k 100; cupti lose_buffer 2") {
  make_context();
  start(false);
  for (int i = 0; i < 3; ++i) {
    SIM_CHECK(launch(kernel("k")));
    SIM_CHECK(cuCtxSynchronize());
    cuptiActivityFlushAll(0);
  }
  usleep(50000);
  EXPECT_EQ(kernels_seen(), 2u);
}

SIM_TEST(CuptiFault, AFlushThatHangsHangsOnlyItsCaller, "kernel k 100; cupti flush_hangs") {
  make_context();
  start(false);
  static std::atomic<bool> returned{false};
  std::thread([] {
    cuptiActivityFlushAll(0);
    returned = true;
  }).detach();
  usleep(50000);
  EXPECT_FALSE(returned.load());
  SIM_CHECK(launch(kernel("k")));
  SIM_CHECK(cuCtxSynchronize());
}

SIM_TEST(CuptiFault, NoBufferMeansCountedLoss, "kernel k 100") {
  make_context();
  start(false);
  cuptiActivityRegisterCallbacks(
      [](uint8_t** buffer, size_t* size, size_t* most) {
        *buffer = nullptr;
        *size = *most = 0;
      },
      complete);
  SIM_CHECK(launch(kernel("k")));
  SIM_CHECK(cuCtxSynchronize());
  cuptiActivityFlushAll(0);
  size_t dropped = 0;
  cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  EXPECT_EQ(dropped, 1u);
}

SIM_TEST(CuptiFault, AfterFinalizeNothingIsRecordedUntilItIsEnabledAgain, "kernel k 100") {
  make_context();
  start(false);
  SIM_CHECK(launch(kernel("k")));
  SIM_CHECK(cuCtxSynchronize());
  EXPECT_EQ(cuptiFinalize(), CUPTI_SUCCESS);
  EXPECT_EQ(kernels_seen(), 1u);
  SIM_CHECK(launch(kernel("k")));
  SIM_CHECK(cuCtxSynchronize());
  start(false);
  SIM_CHECK(launch(kernel("k")));
  SIM_CHECK(cuCtxSynchronize());
  cuptiActivityFlushAll(0);
  EXPECT_EQ(kernels_seen(), 2u);
}

SIM_TEST(CuptiFault, EarlyStartsLieInsideTheirCall, "kernel k 100000; early_start; api * 1000") {
  start();
  make_context();
  CUfunction function = kernel("k");
  SIM_CHECK(launch(function));
  SIM_CHECK(cuCtxSynchronize());
  cuptiActivityFlushAll(0);
  ASSERT_EQ(seen.kernels.size(), 1u);
  ASSERT_EQ(seen.calls.size(), 1u);
  EXPECT_GT(seen.kernels[0].start, seen.calls[0].start);
  EXPECT_LT(seen.kernels[0].start, seen.calls[0].end);
}

void stress(bool real_clock) {
  constexpr int kThreads = 4, kLaunches = 3000;
  if (real_clock) setenv("SIM_CLOCK", "real", 1);
  start();
  CUcontext context = make_context();
  CUfunction function = kernel("k");
  CUstream shared = make_stream();
  std::atomic<bool> stop{false};
  std::thread flusher([&] {
    while (!stop) {
      cuptiActivityFlushAll(0);
      usleep(500);
    }
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      SIM_CHECK(cuCtxSetCurrent(context));
      CUstream own = make_stream();
      CUevent event = nullptr;
      SIM_CHECK(cuEventCreate(&event, 0));
      for (int i = 0; i < kLaunches; ++i) {
        SIM_CHECK(launch(function, (i + t) % 3 == 0 ? shared : own));
        if (i % 100 == 0) {
          SIM_CHECK(cuEventRecord(event, own));
          SIM_CHECK(cuStreamWaitEvent(shared, event, 0));
          SIM_CHECK(cuEventSynchronize(event));
        }
      }
      SIM_CHECK(cuStreamSynchronize(own));
      SIM_CHECK(cuEventDestroy(event));
      SIM_CHECK(cuStreamDestroy(own));
    });
  }
  for (std::thread& one : threads) one.join();
  SIM_CHECK(cuCtxSynchronize());
  stop = true;
  flusher.join();
  cuptiActivityFlushAll(0);
  EXPECT_EQ(seen.kernels.size(), static_cast<size_t>(kThreads * kLaunches));
  EXPECT_EQ(seen.calls.size(), static_cast<size_t>(kThreads * kLaunches));
  std::set<uint32_t> launches;
  for (const CUpti_ActivityAPI& one : seen.calls) launches.insert(one.correlationId);
  for (const CUpti_ActivityKernel10& one : seen.kernels) EXPECT_EQ(launches.count(one.correlationId), 1u);
}

SIM_TEST(Threads, NothingIsLostWhenManyLaunch, "kernel k 300") { stress(false); }
SIM_TEST(Threads, NothingIsLostOnTheRealClock, "kernel k 300") { stress(true); }

SIM_TEST(RealClock, KernelsTakeTheirTimeWhenCuptiWatches, "kernel k 2000000") {
  setenv("SIM_CLOCK", "real", 1);
  make_context();
  start(false);
  const uint64_t before = sim_now_ns();
  SIM_CHECK(launch(kernel("k")));
  SIM_CHECK(launch(kernel("k")));
  SIM_CHECK(cuCtxSynchronize());
  EXPECT_GE(sim_now_ns() - before, 4000000u);
  cuptiActivityFlushAll(0);
  ASSERT_EQ(seen.kernels.size(), 2u);
  EXPECT_GE(seen.kernels[0].start, before);
  EXPECT_NEAR(static_cast<double>(seen.kernels[0].end - seen.kernels[0].start), 2e6, 1e5);
  EXPECT_GE(seen.kernels[1].start, seen.kernels[0].end);
}

SIM_TEST(Graph, AnUpdatedInstanceKeepsItsIdsAndRunsTheNewKernels, "kernel a 100; kernel b 100") {
  make_context();
  CUstream stream = make_stream();
  start();
  const auto captured = [&](const char* name) {
    CUfunction function = kernel(name);
    CUgraph graph = nullptr;
    SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    SIM_CHECK(launch(function, stream));
    SIM_CHECK(cuStreamEndCapture(stream, &graph));
    return graph;
  };
  CUgraphExec exec = nullptr;
  SIM_CHECK(cuGraphInstantiate(&exec, captured("a"), 0));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  CUgraphExecUpdateResultInfo info{};
  SIM_CHECK(cuGraphExecUpdate(exec, captured("b"), &info));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
  cuptiActivityFlushAll(0);
  ASSERT_EQ(seen.kernels.size(), 2u);
  EXPECT_STREQ(seen.kernels[0].name, "a");
  EXPECT_STREQ(seen.kernels[1].name, "b");
  EXPECT_EQ(seen.kernels[0].graphNodeId, seen.kernels[1].graphNodeId);
}

SIM_TEST(Graph, AChildGraphsKernelsRunInsideTheParent, "kernel a 100") {
  make_context();
  start();
  CUgraph inner = nullptr, outer = nullptr;
  SIM_CHECK(cuGraphCreate(&inner, 0));
  SIM_CHECK(cuGraphCreate(&outer, 0));
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = kernel("a");
  params.gridDimX = params.gridDimY = params.gridDimZ = params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  CUgraphNode node = nullptr, child = nullptr, after = nullptr;
  SIM_CHECK(cuGraphAddKernelNode(&node, inner, nullptr, 0, &params));
  SIM_CHECK(cuGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
  SIM_CHECK(cuGraphAddKernelNode(&after, outer, &child, 1, &params));
  CUgraphExec exec = nullptr;
  SIM_CHECK(cuGraphInstantiate(&exec, outer, 0));
  SIM_CHECK(cuGraphLaunch(exec, nullptr));
  SIM_CHECK(cuCtxSynchronize());
  cuptiActivityFlushAll(0);
  ASSERT_EQ(seen.kernels.size(), 2u);
  EXPECT_GE(seen.kernels[1].start, seen.kernels[0].end);
  EXPECT_NE(seen.kernels[0].graphNodeId, seen.kernels[1].graphNodeId);
}

SIM_TEST(Graph, WholeGraphTracingReplacesItsKernels, "kernel a 100") {
  make_context();
  CUstream stream = make_stream();
  CUfunction function = kernel("a");
  start();
  EXPECT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE), CUPTI_SUCCESS);
  CUgraph graph = nullptr;
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  for (int i = 0; i < 3; ++i) SIM_CHECK(launch(function, stream));
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec = nullptr;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
  cuptiActivityFlushAll(0);
  EXPECT_EQ(seen.kernels.size(), 0u);
  ASSERT_EQ(seen.graphs.size(), 1u);
  EXPECT_EQ(seen.graphs[0].end - seen.graphs[0].start, 300u);
}

SIM_TEST(Copies, BetweenDevicesArePeerCopies, "copy p2p 10; copy setup 0") {
  make_context(1);
  const CUdeviceptr there = allocate(1000);
  make_context(0);
  const CUdeviceptr here = allocate(1000);
  start(false);
  EXPECT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2), CUPTI_SUCCESS);
  SIM_CHECK(cuMemcpyDtoD(there, here, 1000));
  SIM_CHECK(cuCtxSynchronize());
  cuptiActivityFlushAll(0);
  ASSERT_EQ(seen.peer_copies.size(), 1u);
  EXPECT_EQ(seen.peer_copies[0].srcDeviceId, 0u);
  EXPECT_EQ(seen.peer_copies[0].dstDeviceId, 1u);
  EXPECT_EQ(seen.peer_copies[0].end - seen.peer_copies[0].start, 100u);
}

}  // namespace
