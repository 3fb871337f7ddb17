// Does the simulated driver keep its guarantees about time and order? Streams, events, copies, graphs, faults; no
// CUPTI.
#include <atomic>
#include <cstring>
#include <thread>

#include "tests/sim/sim_program.h"
#include "tests/sim/tests/in_child.h"

using namespace sim_program;

namespace {

constexpr const char* kScript = "kernel short 1000; kernel long 100000; launch_latency 500; api * 1000";

SIM_TEST(Timeline, CallsCostWhatTheScriptSays, "api * 1000; api cuCtxGetDevice 70") {
  make_context();
  const uint64_t before = sim_now_ns();
  CUdevice device = 0;
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(sim_now_ns() - before, 70u);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(sim_now_ns() - before, 1070u);
}

SIM_TEST(Timeline, KernelsOfOneStreamRunOneAfterTheOther, kScript) {
  make_context();
  CUstream stream = make_stream();
  CUfunction function = kernel("long");
  const uint64_t before = sim_now_ns();
  for (int i = 0; i < 3; ++i) SIM_CHECK(launch(function, stream));
  EXPECT_EQ(sim_now_ns() - before, 3000u) << "launches return before the kernels end";
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  SIM_CHECK(cuStreamSynchronize(stream));
  // First start: end of the first call (1000) plus the latency (500); then three kernels; then half a call.
  EXPECT_EQ(sim_now_ns() - before, 1500u + 300000u + 500u);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
}

SIM_TEST(Timeline, StreamsOverlapUnlessTheLegacyStreamStandsBetween, kScript) {
  make_context();
  CUstream one = make_stream(CU_STREAM_DEFAULT), two = make_stream(CU_STREAM_DEFAULT),
           apart = make_stream(CU_STREAM_NON_BLOCKING);
  CUfunction function = kernel("long");
  uint64_t before = sim_now_ns();
  SIM_CHECK(launch(function, one));
  SIM_CHECK(launch(function, two));
  SIM_CHECK(cuCtxSynchronize());
  EXPECT_LT(sim_now_ns() - before, 110000u);
  before = sim_now_ns();
  SIM_CHECK(launch(function, one));
  SIM_CHECK(launch(function, nullptr));
  SIM_CHECK(launch(function, two));
  SIM_CHECK(launch(function, apart));
  SIM_CHECK(cuStreamSynchronize(apart));
  EXPECT_LT(sim_now_ns() - before, 110000u) << "a non-blocking stream does not wait for the legacy one";
  SIM_CHECK(cuCtxSynchronize());
  EXPECT_GT(sim_now_ns() - before, 300000u);
}

SIM_TEST(Timeline, EventsOrderStreamsAndMeasureTime, kScript) {
  make_context();
  CUstream one = make_stream(), two = make_stream();
  CUevent start = nullptr, end = nullptr;
  SIM_CHECK(cuEventCreate(&start, 0));
  SIM_CHECK(cuEventCreate(&end, 0));
  SIM_CHECK(launch(kernel("long"), one));
  SIM_CHECK(cuEventRecord(start, one));
  EXPECT_EQ(cuEventQuery(start), CUDA_ERROR_NOT_READY);
  SIM_CHECK(cuStreamWaitEvent(two, start, 0));
  SIM_CHECK(launch(kernel("short"), two));
  SIM_CHECK(cuEventRecord(end, two));
  SIM_CHECK(cuEventSynchronize(end));
  EXPECT_EQ(cuEventQuery(start), CUDA_SUCCESS);
  float ms = 0;
  SIM_CHECK(cuEventElapsedTime(&ms, start, end));
  EXPECT_FLOAT_EQ(ms, 0.001f);
}

SIM_TEST(Timeline, CopiesMoveBytesAndTakeTheirTime, "copy h2d 10; copy setup 100; api * 1000; launch_latency 0") {
  make_context();
  const CUdeviceptr memory = allocate(1 << 20);
  char in[1000], out[1000] = {};
  memset(in, 7, sizeof in);
  const uint64_t before = sim_now_ns();
  SIM_CHECK(cuMemcpyHtoD(memory, in, sizeof in));
  EXPECT_EQ(sim_now_ns() - before, 1000u + 100u + 100u + 500u);
  SIM_CHECK(cuMemsetD8(memory, 9, 500));
  SIM_CHECK(cuMemcpyDtoH(out, memory, sizeof out));
  EXPECT_EQ(out[499], 9);
  EXPECT_EQ(out[500], 7);
}

SIM_TEST(Timeline, AWrittenValueAppearsWhenTheDeviceGetsThere, kScript) {
  make_context();
  CUstream stream = make_stream();
  uint32_t* mark = nullptr;
  SIM_CHECK(cuMemAllocHost(reinterpret_cast<void**>(&mark), 4));
  *mark = 0;
  SIM_CHECK(launch(kernel("long"), stream));
  SIM_CHECK(cuStreamWriteValue32(stream, reinterpret_cast<CUdeviceptr>(mark), 5, 0));
  EXPECT_EQ(*mark, 0u);
  sim_advance_ns(90000);
  EXPECT_EQ(*mark, 0u);
  sim_advance_ns(20000);
  EXPECT_EQ(*mark, 5u);
}

SIM_TEST(Timeline, AStreamWaitsForAValueThatTheProgramWrites, kScript) {
  make_context();
  CUstream stream = make_stream();
  uint32_t* mark = nullptr;
  SIM_CHECK(cuMemAllocHost(reinterpret_cast<void**>(&mark), 4));
  *mark = 0;
  SIM_CHECK(cuStreamWaitValue32(stream, reinterpret_cast<CUdeviceptr>(mark), 3, CU_STREAM_WAIT_VALUE_GEQ));
  SIM_CHECK(launch(kernel("short"), stream));
  sim_advance_ns(1000000);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  std::thread writer([mark] {
    usleep(20000);
    __atomic_store_n(mark, 3u, __ATOMIC_RELEASE);
  });
  SIM_CHECK(cuStreamSynchronize(stream));
  writer.join();
}

SIM_TEST(Timeline, HostFunctionsRunInOrderOnTheDriversThread, kScript) {
  make_context();
  CUstream stream = make_stream();
  static std::atomic<int> ran{0};
  static std::thread::id where;
  SIM_CHECK(launch(kernel("long"), stream));
  SIM_CHECK(cuLaunchHostFunc(
      stream, [](void*) { where = std::this_thread::get_id(), ran = 1; }, nullptr));
  EXPECT_EQ(ran.load(), 0);
  SIM_CHECK(cuStreamSynchronize(stream));
  EXPECT_EQ(ran.load(), 1);
  EXPECT_NE(where, std::this_thread::get_id());
}

SIM_TEST(Timeline, WorkFinishesWhileTheProgramSleeps, "kernel long 100000; idle 50") {
  make_context();
  CUstream stream = make_stream();
  SIM_CHECK(launch(kernel("long"), stream));
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  usleep(400000);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
}

SIM_TEST(Timeline, WorkFinishesWhileTheProgramSpinsOnMemory, "kernel long 100000; idle 20") {
  make_context();
  uint32_t* mark = nullptr;
  SIM_CHECK(cuMemAllocHost(reinterpret_cast<void**>(&mark), 4));
  *mark = 0;
  SIM_CHECK(launch(kernel("long")));
  SIM_CHECK(cuStreamWriteValue32(nullptr, reinterpret_cast<CUdeviceptr>(mark), 1, 0));
  while (__atomic_load_n(mark, __ATOMIC_ACQUIRE) == 0) {}
}

SIM_TEST(Timeline, ABusyProgramDoesNotLetTheDeviceRunAhead, "kernel long 100000; idle 200") {
  make_context();
  CUstream stream = make_stream();
  SIM_CHECK(launch(kernel("long"), stream));
  timespec begin{}, now{};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 500);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
}

SIM_TEST(Timeline, LaunchesWaitWhenTooManyAreOutstanding, "kernel long 100000; max_outstanding 4") {
  make_context();
  CUstream stream = make_stream();
  const uint64_t before = sim_now_ns();
  for (int i = 0; i < 4; ++i) SIM_CHECK(launch(kernel("long"), stream));
  EXPECT_LT(sim_now_ns() - before, 20000u);
  SIM_CHECK(launch(kernel("long"), stream));
  EXPECT_GT(sim_now_ns() - before, 100000u);
}

SIM_TEST(Timeline, TwoDevicesKeepTheirOwnWork, kScript) {
  CUcontext first = make_context(0);
  CUcontext second = make_context(1);
  SIM_CHECK(launch(kernel("long")));
  SIM_CHECK(cuCtxSetCurrent(first));
  const uint64_t before = sim_now_ns();
  SIM_CHECK(cuCtxSynchronize());
  EXPECT_LT(sim_now_ns() - before, 5000u) << "the other device's kernel is none of its business";
  unsigned long long one = 0, two = 0;
  SIM_CHECK(cuCtxGetId(first, &one));
  SIM_CHECK(cuCtxGetId(second, &two));
  EXPECT_NE(one, two);
}

SIM_TEST(Faults, AScriptedErrorIsReturnedAtTheScriptedCall, "fault cuLaunchKernel 2 719") {
  make_context();
  EXPECT_EQ(launch(kernel("k")), CUDA_SUCCESS);
  EXPECT_EQ(launch(kernel("k")), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(launch(kernel("k")), CUDA_SUCCESS);
}

SIM_TEST(Faults, AnAbsentFunctionIsUnknownToGetProcAddress, "absent cuFuncGetName") {
  make_context();
  void* found = nullptr;
  CUdriverProcAddressQueryResult status{};
  EXPECT_EQ(cuGetProcAddress("cuFuncGetName", &found, 13000, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(cuGetProcAddress("cuKernelGetName", &found, 13000, 0, &status), CUDA_SUCCESS);
}

SIM_TEST(ProcAddress, AnswersByVersionAndThreadFlag, "") {
  make_context();
  void *old = nullptr, *now = nullptr, *per_thread = nullptr;
  CUdriverProcAddressQueryResult status{};
  EXPECT_EQ(cuGetProcAddress("cuStreamBeginCapture", &old, 10000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(cuGetProcAddress("cuStreamBeginCapture", &now, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(cuGetProcAddress("cuStreamBeginCapture", &per_thread, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                             &status),
            CUDA_SUCCESS);
  EXPECT_NE(old, now);
  EXPECT_NE(now, per_thread);
  EXPECT_EQ(now, reinterpret_cast<void*>(&cuStreamBeginCapture)) << "cuda.h renames it to _v2";
  EXPECT_EQ(cuGetProcAddress("", &now, 13000, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuGetProcAddress("cuLaunchKernelEx", &now, 11000, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

SIM_TEST(ProcAddress, PerThreadFormsUseTheThreadsOwnStream, kScript) {
  make_context();
  void* found = nullptr;
  CUdriverProcAddressQueryResult status{};
  SIM_CHECK(cuGetProcAddress("cuStreamGetId", &found, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
  unsigned long long plain = 0, own = 0;
  SIM_CHECK(cuStreamGetId(nullptr, &plain));
  SIM_CHECK(reinterpret_cast<CUresult (*)(CUstream, unsigned long long*)>(found)(nullptr, &own));
  EXPECT_NE(plain, own);
}

SIM_TEST(Process, AForkedChildHasNoDriver, "") {
  make_context();
  const pid_t child = fork();
  if (child == 0) {
    CUdevice device = 0;
    _exit(cuCtxGetDevice(&device) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

SIM_TEST(Graph, ExplicitNodesRunInTheOrderOfTheirEdges, kScript) {
  make_context();
  CUgraph graph = nullptr;
  SIM_CHECK(cuGraphCreate(&graph, 0));
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = kernel("long");
  params.gridDimX = params.gridDimY = params.gridDimZ = params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  CUgraphNode first = nullptr, left = nullptr, right = nullptr, last = nullptr;
  SIM_CHECK(cuGraphAddKernelNode(&first, graph, nullptr, 0, &params));
  SIM_CHECK(cuGraphAddKernelNode(&left, graph, &first, 1, &params));
  SIM_CHECK(cuGraphAddKernelNode(&right, graph, &first, 1, &params));
  const CUgraphNode both[] = {left, right};
  SIM_CHECK(cuGraphAddEmptyNode(&last, graph, both, 2));
  CUgraphExec exec = nullptr;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  CUstream stream = make_stream();
  const uint64_t before = sim_now_ns();
  SIM_CHECK(cuGraphLaunch(exec, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
  EXPECT_EQ(sim_now_ns() - before, 1500u + 200000u + 500u) << "the two branches run side by side";
  size_t count = 0;
  SIM_CHECK(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 4u);
  CUgraphNodeType type{};
  SIM_CHECK(cuGraphNodeGetType(last, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_EMPTY);
}

}  // namespace
