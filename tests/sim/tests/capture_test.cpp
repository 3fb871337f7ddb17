// Stream capture: what it records and, above all, what invalidates it.
#include <thread>

#include "tests/sim/sim_program.h"
#include "tests/sim/tests/in_child.h"

using namespace sim_program;

namespace {

struct Capturing {
  CUstream stream;
  explicit Capturing(CUstreamCaptureMode mode, unsigned flags = CU_STREAM_NON_BLOCKING) : stream(make_stream(flags)) {
    CUfunction function = kernel("k");  // loading a module during a capture would be an unsafe call
    SIM_CHECK(cuStreamBeginCapture(stream, mode));
    SIM_CHECK(launch(function, stream));
  }
  CUresult end() {
    CUgraph graph = nullptr;
    return cuStreamEndCapture(stream, &graph);
  }
};

CUresult on_another_thread(CUcontext context, CUresult (*call)()) {
  CUresult result = CUDA_SUCCESS;
  std::thread([&] {
    SIM_CHECK(cuCtxSetCurrent(context));
    result = call();
  }).join();
  return result;
}

CUresult allocate_something() {
  CUdeviceptr memory = 0;
  return cuMemAlloc(&memory, 64);
}
CUresult load_something() {
  CUmodule module = nullptr;
  return cuModuleLoadData(&module, "image");
}
CUresult query_an_event() {
  CUevent event = nullptr;
  SIM_CHECK(cuEventCreate(&event, 0));
  return cuEventQuery(event);
}
CUresult launch_elsewhere() { return launch(kernel("other"), make_stream()); }

SIM_TEST(Capture, AGlobalCaptureForbidsUnsafeCallsInEveryThread, "") {
  CUcontext context = make_context();
  for (auto call : {allocate_something, load_something, query_an_event}) {
    Capturing capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    EXPECT_EQ(on_another_thread(context, call), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT_EQ(capture.end(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  }
}

SIM_TEST(Capture, ARelaxedThreadMayDoThem, "") {
  CUcontext context = make_context();
  Capturing capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
  const CUresult result = on_another_thread(context, [] {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    SIM_CHECK(cuThreadExchangeStreamCaptureMode(&mode));
    EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    const CUresult answer = query_an_event();
    SIM_CHECK(cuThreadExchangeStreamCaptureMode(&mode));
    EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
    return answer;
  });
  EXPECT_EQ(result, CUDA_SUCCESS);
  EXPECT_EQ(capture.end(), CUDA_SUCCESS);
}

SIM_TEST(Capture, AThreadLocalCaptureForbidsThemInItsOwnThreadOnly, "") {
  CUcontext context = make_context();
  Capturing capture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(on_another_thread(context, allocate_something), CUDA_SUCCESS);
  EXPECT_EQ(allocate_something(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(capture.end(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

SIM_TEST(Capture, ARelaxedCaptureForbidsNothing, "") {
  CUcontext context = make_context();
  Capturing capture(CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(on_another_thread(context, allocate_something), CUDA_SUCCESS);
  EXPECT_EQ(allocate_something(), CUDA_SUCCESS);
  EXPECT_EQ(capture.end(), CUDA_SUCCESS);
}

SIM_TEST(Capture, LaunchesOnOtherStreamsAreSafe, "") {
  CUcontext context = make_context();
  kernel("other");
  Capturing capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(on_another_thread(context, launch_elsewhere), CUDA_SUCCESS);
  EXPECT_EQ(capture.end(), CUDA_SUCCESS);
}

SIM_TEST(Capture, TheLegacyStreamMayNotBeUsedBesideABlockingCapture, "") {
  make_context();
  Capturing blocking(CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_DEFAULT);
  EXPECT_EQ(launch(kernel("k"), nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(blocking.end(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  Capturing apart(CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_NON_BLOCKING);
  EXPECT_EQ(launch(kernel("k"), nullptr), CUDA_SUCCESS);
  EXPECT_EQ(apart.end(), CUDA_SUCCESS);
}

SIM_TEST(Capture, WaitingForACapturingStreamInvalidatesIt, "") {
  make_context();
  Capturing first(CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(cuStreamSynchronize(first.stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(first.end(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

SIM_TEST(Capture, EventsCarryACaptureToOtherStreamsWhichMustJoinAgain, "") {
  make_context();
  CUevent fork_event = nullptr, join_event = nullptr;
  SIM_CHECK(cuEventCreate(&fork_event, 0));
  SIM_CHECK(cuEventCreate(&join_event, 0));
  for (const bool join : {true, false}) {
    Capturing capture(CU_STREAM_CAPTURE_MODE_RELAXED);
    CUstream side = make_stream();
    SIM_CHECK(cuEventRecord(fork_event, capture.stream));
    SIM_CHECK(cuStreamWaitEvent(side, fork_event, 0));
    SIM_CHECK(launch(kernel("k"), side));
    SIM_CHECK(cuEventRecord(join_event, side));
    if (join) SIM_CHECK(cuStreamWaitEvent(capture.stream, join_event, 0));
    EXPECT_EQ(capture.end(), join ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    CUstreamCaptureStatus status{};
    SIM_CHECK(cuStreamIsCapturing(side, &status));
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  }
}

SIM_TEST(Capture, CaptureInfoNamesTheNodeJustMade, "") {
  make_context();
  Capturing capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0;
  CUgraph graph = nullptr;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  size_t count = 0;
  SIM_CHECK(cuStreamGetCaptureInfo(capture.stream, &status, &id, &graph, &nodes, &edges, &count));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  ASSERT_EQ(count, 1u);
  CUDA_KERNEL_NODE_PARAMS params{};
  SIM_CHECK(cuGraphKernelNodeGetParams(nodes[0], &params));
  EXPECT_EQ(params.func, kernel("k"));
  EXPECT_EQ(capture.end(), CUDA_SUCCESS);
}

SIM_TEST(Capture, OnlyTheThreadThatBeganItEndsIt, "") {
  CUcontext context = make_context();
  static Capturing* capture = nullptr;
  capture = new Capturing(CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(on_another_thread(context, [] { return capture->end(); }), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
}

}  // namespace
