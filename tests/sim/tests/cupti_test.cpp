// Does the simulated CUPTI report what the device did, on the given clock, and lose only the records that the script
// drops?
#include <cupti.h>
#include <sys/syscall.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "tests/sim/sim_program.h"
#include "tests/sim/tests/cupti_seen.h"
#include "tests/sim/tests/in_child.h"

using namespace sim_program;
using namespace cupti_seen;

namespace {

SIM_TEST(Cupti, KernelsCarryTheirLaunchsCorrelationAndExactTimes,
         "kernel k 7000 registers 40 shared 64; launch_latency 0; api * 1000") {
  start();
  make_context();
  CUstream stream = make_stream();
  CUfunction function = kernel("k");
  const uint64_t before = sim_now_ns();
  SIM_CHECK(cuLaunchKernel(function, 2, 3, 4, 32, 2, 1, 128, stream, nullptr, nullptr));
  SIM_CHECK(cuStreamSynchronize(stream));
  EXPECT_EQ(cuptiActivityFlushAll(0), CUPTI_SUCCESS);
  ASSERT_EQ(seen.kernels.size(), 1u);
  ASSERT_EQ(seen.calls.size(), 1u) << "only the calls asked for";
  const CUpti_ActivityKernel10& one = seen.kernels[0];
  EXPECT_STREQ(one.name, "k");
  EXPECT_EQ(one.start, before + 1000);
  EXPECT_EQ(one.end, before + 8000);
  EXPECT_EQ(one.gridZ, 4);
  EXPECT_EQ(one.blockY, 2);
  EXPECT_EQ(one.dynamicSharedMemory, 128);
  EXPECT_EQ(one.staticSharedMemory, 64);
  EXPECT_EQ(one.registersPerThread, 40);
  EXPECT_EQ(one.correlationId, seen.calls[0].correlationId);
  EXPECT_EQ(seen.calls[0].start, before);
  EXPECT_EQ(seen.calls[0].end, before + 1000);
  EXPECT_EQ(seen.calls[0].threadId, static_cast<uint32_t>(syscall(SYS_gettid)));
  uint32_t id = 0;
  EXPECT_EQ(cuptiGetStreamId(nullptr, stream, &id), CUPTI_SUCCESS);
  EXPECT_EQ(one.streamId, id);
}

SIM_TEST(Cupti, AFlushReturnsOnlyWhatHasFinished, "kernel long 1000000; idle 0") {
  make_context();
  CUstream stream = make_stream();
  start(false);
  SIM_CHECK(launch(kernel("long"), stream));
  SIM_CHECK(launch(kernel("long"), stream));
  sim_advance_ns(1100000);
  cuptiActivityFlushAll(0);
  EXPECT_EQ(seen.kernels.size(), 1u);
  SIM_CHECK(cuStreamSynchronize(stream));
  cuptiActivityFlushAll(0);
  EXPECT_EQ(seen.kernels.size(), 2u);
}

SIM_TEST(Cupti, FullBuffersComeFromAThreadOfItsOwn, "kernel k 100; cupti worker 5") {
  make_context();
  buffer_bytes = 4 * sizeof(CUpti_ActivityKernel10);
  start(false);
  for (int i = 0; i < 10; ++i) SIM_CHECK(launch(kernel("k")));
  SIM_CHECK(cuCtxSynchronize());
  for (int waited = 0; waited < 2000; ++waited) {
    usleep(1000);
    std::lock_guard<std::mutex> lock(seen.mutex);
    if (seen.kernels.size() == 8) break;
  }
  EXPECT_EQ(seen.kernels.size(), 8u) << "two full buffers, and no partly filled one";
  cuptiActivityFlushAll(0);
  EXPECT_EQ(seen.kernels.size(), 10u);
}

SIM_TEST(Cupti, ReplayedKernelsKeepTheIndexOfTheirCapturedNode, "kernel k 100") {
  start();
  make_context();
  CUstream stream = make_stream();
  CUfunction function = kernel("k");
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  std::vector<uint64_t> captured;
  for (int i = 0; i < 2; ++i) {
    SIM_CHECK(launch(function, stream));
    CUstreamCaptureStatus status{};
    cuuint64_t id = 0;
    const CUgraphNode* nodes = nullptr;
    const CUgraphEdgeData* edges = nullptr;
    size_t count = 0;
    SIM_CHECK(cuStreamGetCaptureInfo(stream, &status, &id, nullptr, &nodes, &edges, &count));
    uint64_t node = 0;
    EXPECT_EQ(cuptiGetGraphNodeId(nodes[0], &node), CUPTI_SUCCESS);
    captured.push_back(node);
  }
  CUgraph graph = nullptr;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec = nullptr;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  uint32_t graph_id = 0, exec_id = 0;
  EXPECT_EQ(cuptiGetGraphId(graph, &graph_id), CUPTI_SUCCESS);
  EXPECT_EQ(cuptiGetGraphExecId(exec, &exec_id), CUPTI_SUCCESS);
  EXPECT_NE(graph_id, exec_id);
  SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
  cuptiActivityFlushAll(0);
  ASSERT_EQ(seen.kernels.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(captured[i] >> 32, graph_id);
    EXPECT_EQ(seen.kernels[i].graphId, exec_id);
    EXPECT_EQ(seen.kernels[i].graphNodeId, static_cast<uint64_t>(exec_id) << 32 | (captured[i] & 0xffffffff));
    EXPECT_EQ(seen.kernels[i].correlationId, seen.calls.back().correlationId) << "one launch to many kernels";
  }
}

SIM_TEST(Cupti, CopiesAndFillsSayWhatTheyMoved, "copy setup 0; copy h2d 10; copy memset 100") {
  make_context();
  start(false);
  const CUdeviceptr memory = allocate(4096);
  char host[1000] = {};
  SIM_CHECK(cuMemcpyHtoD(memory, host, sizeof host));
  SIM_CHECK(cuMemsetD32(memory, 7, 1000));
  SIM_CHECK(cuCtxSynchronize());
  cuptiActivityFlushAll(0);
  ASSERT_EQ(seen.copies.size(), 1u);
  EXPECT_EQ(seen.copies[0].bytes, 1000u);
  EXPECT_EQ(seen.copies[0].copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
  EXPECT_EQ(seen.copies[0].srcKind, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
  EXPECT_EQ(seen.copies[0].dstKind, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
  EXPECT_EQ(seen.copies[0].end - seen.copies[0].start, 100u);
  ASSERT_EQ(seen.fills.size(), 1u);
  EXPECT_EQ(seen.fills[0].bytes, 4000u);
  EXPECT_EQ(seen.fills[0].value, 7u);
  EXPECT_EQ(seen.fills[0].end - seen.fills[0].start, 40u);
}

SIM_TEST(Cupti, GpuTimesFollowARealClockThatWasRegistered, "kernel k 3000000") {
  EXPECT_EQ(cuptiActivityRegisterTimestampCallback([]() -> uint64_t {
              timespec time{};
              clock_gettime(CLOCK_MONOTONIC, &time);
              return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
            }),
            CUPTI_SUCCESS);
  cuptiActivityRegisterCallbacks(request, complete);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER);
  make_context();
  CUstream stream = make_stream();
  for (int i = 0; i < 20; ++i) {
    SIM_CHECK(launch(kernel("k"), stream));
    if (i % 5 == 4) SIM_CHECK(cuStreamSynchronize(stream));
  }
  cuptiActivityFlushAll(0);
  ASSERT_EQ(seen.kernels.size(), 20u);
  uint64_t last = 0;
  for (const CUpti_ActivityKernel10& one : seen.kernels) {
    const auto call = std::find_if(seen.calls.begin(), seen.calls.end(),
                                   [&](const auto& c) { return c.correlationId == one.correlationId; });
    ASSERT_NE(call, seen.calls.end());
    EXPECT_GE(one.start, call->start) << "no kernel before its launch was entered";
    EXPECT_GE(one.start, last) << "one stream, one after the other";
    EXPECT_LE(one.start, one.end);
    last = one.end;
  }
}

void a_launch_of_which_the_call_is(size_t seen_calls) {
  start();
  SIM_CHECK(launch(kernel("k")));
  SIM_CHECK(cuCtxSynchronize());
  cuptiActivityFlushAll(0);
  EXPECT_EQ(seen.kernels.size(), 1u);
  EXPECT_EQ(seen.calls.size(), seen_calls);
}

SIM_TEST(Cupti, DriverCallsAreNotShownIfNoneWereWantedWhenTheFirstContextWasMade, "kernel k 100") {
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET);
  make_context();
  a_launch_of_which_the_call_is(0);
}

SIM_TEST(Cupti, DriverCallsAreShownIfAnyWasWantedWhenTheFirstContextWasMade, "kernel k 100") {
  cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuInit, 1);
  make_context();
  a_launch_of_which_the_call_is(1);
}

SIM_TEST(Cupti, AThreadKeepsTheIdOfACallThatStopsBeingRecordedWhileItIsInside, "kernel k 100") {
  cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuInit, 1);
  make_context();
  start();
  CUpti_SubscriberHandle subscriber = nullptr;
  const CUpti_CallbackFunc stop = [](void*, CUpti_CallbackDomain, CUpti_CallbackId cbid, const void* data) {
    if (static_cast<const CUpti_CallbackData*>(data)->callbackSite == CUPTI_API_ENTER)
      cuptiActivityEnableDriverApi(cbid, 0);
  };
  EXPECT_EQ(cuptiSubscribe(&subscriber, stop, nullptr), CUPTI_SUCCESS);
  cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
  SIM_CHECK(launch(kernel("k")));
  EXPECT_EQ(cuptiUnsubscribe(subscriber), CUPTI_SUCCESS);
  EXPECT_EQ(cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1), CUPTI_SUCCESS);
  SIM_CHECK(launch(kernel("k")));
  CUcontext context = nullptr;
  SIM_CHECK(cuCtxGetCurrent(&context));
  std::thread([context] {
    SIM_CHECK(cuCtxSetCurrent(context));
    SIM_CHECK(launch(kernel("k")));
  }).join();
  SIM_CHECK(cuCtxSynchronize());
  cuptiActivityFlushAll(0);
  ASSERT_EQ(seen.kernels.size(), 3u);
  EXPECT_EQ(seen.kernels[1].correlationId, seen.kernels[0].correlationId);
  EXPECT_NE(seen.kernels[2].correlationId, seen.kernels[0].correlationId) << "another thread";
  ASSERT_EQ(seen.calls.size(), 2u);
  EXPECT_EQ(seen.calls[0].correlationId, seen.kernels[0].correlationId);
}

SIM_TEST(Cupti, LostRecordsAreCounted, "kernel k 100; cupti drop 3") {
  make_context();
  start(false);
  for (int i = 0; i < 9; ++i) SIM_CHECK(launch(kernel("k")));
  SIM_CHECK(cuCtxSynchronize());
  cuptiActivityFlushAll(0);
  size_t dropped = 0;
  EXPECT_EQ(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), CUPTI_SUCCESS);
  EXPECT_EQ(dropped, 3u);
  EXPECT_EQ(seen.kernels.size(), 6u);
}

SIM_TEST(Cupti, ExternalIdsPrecedeTheirCalls, "kernel k 100") {
  start();
  make_context();
  EXPECT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION), CUPTI_SUCCESS);
  EXPECT_EQ(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, 77), CUPTI_SUCCESS);
  SIM_CHECK(launch(kernel("k")));
  uint64_t popped = 0;
  EXPECT_EQ(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, &popped), CUPTI_SUCCESS);
  EXPECT_EQ(popped, 77u);
  EXPECT_EQ(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, &popped),
            CUPTI_ERROR_QUEUE_EMPTY);
  SIM_CHECK(cuCtxSynchronize());
  cuptiActivityFlushAll(0);
  const auto mine = std::find_if(seen.external.begin(), seen.external.end(),
                                 [](const auto& one) { return one.correlationId == seen.kernels[0].correlationId; });
  ASSERT_NE(mine, seen.external.end());
  EXPECT_EQ(mine->externalId, 77u);
}

SIM_TEST(Cupti, ExternalIdsAreOfRecordedCallsAlone, "kernel k 100") {
  start(false);
  make_context();
  EXPECT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION), CUPTI_SUCCESS);
  EXPECT_EQ(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, 77), CUPTI_SUCCESS);
  SIM_CHECK(launch(kernel("k")));
  SIM_CHECK(cuCtxSynchronize());
  cuptiActivityFlushAll(0);
  EXPECT_EQ(seen.kernels.size(), 1u);
  EXPECT_TRUE(seen.external.empty()) << "as an H100 was seen to do with CUPTI 13.0";
}

SIM_TEST(Cupti, OneSubscriberAtATime, "") {
  make_context();
  static int entered = 0;
  CUpti_SubscriberHandle first = nullptr, second = nullptr;
  const CUpti_CallbackFunc count = [](void*, CUpti_CallbackDomain, CUpti_CallbackId cbid, const void* data) {
    const auto* call = static_cast<const CUpti_CallbackData*>(data);
    if (cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel && call->callbackSite == CUPTI_API_ENTER) ++entered;
  };
  EXPECT_EQ(cuptiSubscribe(&first, count, nullptr), CUPTI_SUCCESS);
  EXPECT_EQ(cuptiSubscribe(&second, count, nullptr), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_EQ(cuptiEnableCallback(1, first, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel),
            CUPTI_SUCCESS);
  SIM_CHECK(launch(kernel("k")));
  EXPECT_EQ(entered, 1);
  EXPECT_EQ(cuptiUnsubscribe(first), CUPTI_SUCCESS);
  SIM_CHECK(launch(kernel("k")));
  EXPECT_EQ(entered, 1);
}

SIM_TEST(Cupti, KernelsInsideTheDriverHaveNoApiRecord, "internal_memset_kernel") {
  make_context();
  start();
  EXPECT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER), CUPTI_SUCCESS);
  const CUdeviceptr memory = allocate(64);
  SIM_CHECK(cuMemsetD8(memory, 0, 64));
  SIM_CHECK(cuCtxSynchronize());
  cuptiActivityFlushAll(0);
  ASSERT_EQ(seen.kernels.size(), 1u);
  for (const CUpti_ActivityAPI& one : seen.calls) EXPECT_NE(one.correlationId, seen.kernels[0].correlationId);
}

SIM_TEST(Cupti, ScriptedRefusals, "cupti no_driver_api; cupti enable_fails 15; cupti version 12") {
  EXPECT_EQ(cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1), CUPTI_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), static_cast<CUptiResult>(15));
  uint32_t version = 0;
  EXPECT_EQ(cuptiGetVersion(&version), CUPTI_SUCCESS);
  EXPECT_EQ(version, 12u);
}

SIM_TEST(Cupti, OverlappingKernelsOfOneStream, "kernel first 10000; kernel second 10000 overlap; launch_latency 0") {
  make_context();
  CUstream stream = make_stream();
  start(false);
  SIM_CHECK(launch(kernel("first"), stream));
  SIM_CHECK(launch(kernel("second"), stream));
  SIM_CHECK(cuStreamSynchronize(stream));
  cuptiActivityFlushAll(0);
  ASSERT_EQ(seen.kernels.size(), 2u);
  EXPECT_LT(seen.kernels[1].start, seen.kernels[0].end);
  EXPECT_GT(seen.kernels[1].end, seen.kernels[0].end);
}

}  // namespace
