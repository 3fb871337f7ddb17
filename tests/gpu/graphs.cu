// CUDA graphs built in every way, each with kernels of its own: what the program prints as JSON says how often each ran, and which
// thread captured or added it inside which NVTX ranges. Built with the static cudart and -rdc=true (launches from the device).
//
//   graphs            everything once, then the JSON
//   graphs --special  the same of conditional nodes and of a graph that a kernel launches: CUPTI may not see all of that
//   graphs --serve    captures a graph of 500 kernels of about one microsecond, prints "ready", then obeys lines of standard input:
//                       loop REPLAYS   launches it so many times and answers with one line of JSON
#include "check.cuh"

#include <nvtx3/nvToolsExt.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#define KERNEL(name) \
  extern "C" __global__ void name(unsigned long long* total) { atomicAdd(total, 1ull); }

KERNEL(capture_global)
KERNEL(capture_thread_local)
KERNEL(capture_relaxed)
KERNEL(capture_forked)
KERNEL(capture_after_join)
KERNEL(capture_to_graph)
KERNEL(capture_other_thread)
KERNEL(add_kernel_node)
KERNEL(add_node)
KERNEL(add_to_clone)
KERNEL(child_of_two)
KERNEL(child_of_child)
KERNEL(cloned)
KERNEL(instantiated_twice)
KERNEL(before_update)
KERNEL(after_update)
KERNEL(before_set_params)
KERNEL(after_set_params)
KERNEL(switched_off)
KERNEL(stays_on)
KERNEL(reused_first)
KERNEL(reused_second)
KERNEL(launched_by_threads)
KERNEL(in_if_body)
KERNEL(second_in_if_body)
KERNEL(in_nested_body)
KERNEL(behind_nested_body)
KERNEL(launched_from_device)

// The body of a WHILE node: runs three times.
extern "C" __global__ void in_while_body(unsigned long long* total, cudaGraphConditionalHandle handle) {
  if (atomicAdd(total + 1, 1ull) % 3 == 2) cudaGraphSetConditional(handle, 0);
}

extern "C" __global__ void launches_graph(cudaGraphExec_t exec) { cudaGraphLaunch(exec, cudaStreamGraphFireAndForget); }

// About a microsecond, whatever the clock of the GPU does at the moment.
extern "C" __global__ void one_microsecond() {
  const long long begin = clock64();
  while (clock64() - begin < 1200) {
  }
}

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

// To be called where the kernel is captured or added.
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

cudaKernelNodeParams kernel_node(Kernel kernel, void** args) {
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(kernel);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = args;
  return params;
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

void capture_modes(Streams& s) {
  const Range range("capture");
  int *from, *to;
  CHECK(cudaMalloc(&from, 4096));
  CHECK(cudaMalloc(&to, 4096));
  struct Mode {
    cudaStreamCaptureMode mode;
    const char* name;
  } const modes[] = {{cudaStreamCaptureModeGlobal, "global"},
                     {cudaStreamCaptureModeThreadLocal, "thread local"},
                     {cudaStreamCaptureModeRelaxed, "relaxed"}};
  for (int i = 0; i < 3; ++i) {
    const Range inner(modes[i].name);
    CHECK(cudaStreamBeginCapture(s.main, modes[i].mode));
    if (i == 0) CAPTURE(s.main, capture_global, 2);
    if (i == 1) CAPTURE(s.main, capture_thread_local, 2);
    if (i == 2) CAPTURE(s.main, capture_relaxed, 2);
    if (i == 2) {
      CHECK(cudaEventRecord(s.forked, s.main));
      CHECK(cudaStreamWaitEvent(s.fork, s.forked, 0));
      {
        const Range forked("fork");
        CAPTURE(s.fork, capture_forked, 2);
      }
      CHECK(cudaEventRecord(s.joined, s.fork));
      CHECK(cudaStreamWaitEvent(s.main, s.joined, 0));
      CAPTURE(s.main, capture_after_join, 2);
      CHECK(cudaLaunchHostFunc(s.main, [](void*) {}, nullptr));
    }
    CHECK(cudaMemcpyAsync(to, from, 4096, cudaMemcpyDeviceToDevice, s.main));
    CHECK(cudaMemsetAsync(from, 0, 4096, s.main));
    g_captured_launches += 2, g_copies += 2, g_fills += 2;
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(s.main, &graph));
    const cudaGraphExec_t exec = instantiate(graph);
    CHECK(cudaGraphDestroy(graph));
    launch(exec, s.main, 2);
    CHECK(cudaStreamSynchronize(s.main));
    CHECK(cudaGraphExecDestroy(exec));
  }
}

void added_nodes(Streams& s) {
  const Range range("add");
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  void* args[] = {&g_total};
  cudaGraphNode_t node;
  cudaKernelNodeParams params = kernel_node(add_kernel_node, args);
  CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  expect("add_kernel_node", 3);
  cudaGraphNodeParams any{};
  any.type = cudaGraphNodeTypeKernel;
  any.kernel.func = reinterpret_cast<void*>(add_node);
  any.kernel.gridDim = any.kernel.blockDim = dim3(1);
  any.kernel.kernelParams = args;
  CHECK(cudaGraphAddNode(&node, graph, &node, nullptr, 1, &any));
  expect("add_node", 3);
  CHECK(cudaStreamBeginCaptureToGraph(s.main, graph, &node, nullptr, 1, cudaStreamCaptureModeRelaxed));
  CAPTURE(s.main, capture_to_graph, 3);
  CHECK(cudaStreamEndCapture(s.main, &graph));
  launch(instantiate(graph), s.main, 3);
  CHECK(cudaStreamSynchronize(s.main));
}

cudaGraph_t capture_one(Streams& s, Kernel kernel, const char* name, long runs) {
  CHECK(cudaStreamBeginCapture(s.main, cudaStreamCaptureModeThreadLocal));
  capture(s.main, kernel, name, runs);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(s.main, &graph));
  return graph;
}
#define CAPTURE_ONE(s, kernel, runs) capture_one(s, kernel, #kernel, runs)

void copies_of_graphs(Streams& s) {
  const Range range("copies");
  void* args[] = {&g_total};
  {
    const Range inner("clone");
    cudaGraph_t clone;
    CHECK(cudaGraphClone(&clone, CAPTURE_ONE(s, cloned, 1)));
    cudaKernelNodeParams params = kernel_node(add_to_clone, args);
    cudaGraphNode_t node;
    CHECK(cudaGraphAddKernelNode(&node, clone, nullptr, 0, &params));
    expect("add_to_clone", 1);
    launch(instantiate(clone), s.main);
  }
  {
    const Range inner("child");
    cudaGraph_t parent, grandparent;
    CHECK(cudaGraphCreate(&parent, 0));
    CHECK(cudaGraphCreate(&grandparent, 0));
    cudaGraphNode_t node;
    CHECK(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, CAPTURE_ONE(s, child_of_child, 2)));
    CHECK(cudaGraphAddChildGraphNode(&node, grandparent, nullptr, 0, parent));
    CHECK(cudaGraphAddChildGraphNode(&node, grandparent, &node, 1, CAPTURE_ONE(s, child_of_two, 2)));
    launch(instantiate(grandparent), s.main, 2);
  }
  {
    const Range inner("twice");
    const cudaGraph_t graph = CAPTURE_ONE(s, instantiated_twice, 3);
    launch(instantiate(graph), s.main);
    launch(instantiate(graph, cudaGraphInstantiateFlagAutoFreeOnLaunch), s.main, 2);
  }
  CHECK(cudaStreamSynchronize(s.main));
}

void changed_graphs(Streams& s) {
  const Range range("changes");
  void* args[] = {&g_total};
  {
    const Range inner("update");
    const cudaGraphExec_t exec = instantiate(CAPTURE_ONE(s, before_update, 2));
    launch(exec, s.main, 2);
    cudaGraphExecUpdateResultInfo info{};
    CHECK(cudaGraphExecUpdate(exec, CAPTURE_ONE(s, after_update, 1), &info));
    launch(exec, s.main);
  }
  {
    const Range inner("set params");
    const cudaGraph_t graph = CAPTURE_ONE(s, before_set_params, 1);
    expect("after_set_params", 2);
    cudaGraphNode_t node;
    size_t count = 1;
    CHECK(cudaGraphGetNodes(graph, &node, &count));
    const cudaGraphExec_t exec = instantiate(graph);
    launch(exec, s.main);
    cudaKernelNodeParams params = kernel_node(after_set_params, args);
    CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    launch(exec, s.main, 2);
  }
  {
    const Range inner("enabled");
    const cudaGraph_t graph = CAPTURE_ONE(s, switched_off, 2);
    cudaGraphNode_t node, other;
    size_t count = 1;
    CHECK(cudaGraphGetNodes(graph, &node, &count));
    cudaKernelNodeParams params = kernel_node(stays_on, args);
    CHECK(cudaGraphAddKernelNode(&other, graph, &node, 1, &params));
    expect("stays_on", 3);
    const cudaGraphExec_t exec = instantiate(graph);
    launch(exec, s.main, 2);
    CHECK(cudaGraphNodeSetEnabled(exec, node, 0));
    launch(exec, s.main);
  }
  {
    const Range inner("reuse");
    for (int i = 0; i < 2; ++i) {
      const Range round(i == 0 ? "first" : "second");
      const cudaGraph_t graph = i == 0 ? CAPTURE_ONE(s, reused_first, 1) : CAPTURE_ONE(s, reused_second, 1);
      const cudaGraphExec_t exec = instantiate(graph);
      launch(exec, s.main);
      CHECK(cudaStreamSynchronize(s.main));
      CHECK(cudaGraphExecDestroy(exec));
      CHECK(cudaGraphDestroy(graph));
    }
  }
  CHECK(cudaStreamSynchronize(s.main));
}

void threads(Streams& s) {
  const Range range("threads");
  cudaGraphExec_t by_worker = nullptr, shared = nullptr;
  std::thread([&] {
    CHECK(cudaSetDevice(0));
    const Range inner("worker");
    CHECK(cudaStreamBeginCapture(s.fork, cudaStreamCaptureModeGlobal));
    CAPTURE(s.fork, capture_other_thread, 1);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(s.fork, &graph));
    by_worker = instantiate(graph);
  }).join();
  launch(by_worker, s.main);
  shared = instantiate(CAPTURE_ONE(s, launched_by_threads, 8));
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t) {
    all.emplace_back([&] {
      CHECK(cudaSetDevice(0));
      const Range inner("launcher");
      launch(shared, s.main, 2);
    });
  }
  for (std::thread& thread : all) thread.join();
  CHECK(cudaStreamSynchronize(s.main));
}

// A condition belongs to the outermost graph.
cudaGraph_t add_conditional(cudaGraph_t graph, cudaGraphConditionalNodeType type, cudaGraphConditionalHandle* handle,
                            cudaGraph_t outermost = nullptr) {
  CHECK(cudaGraphConditionalHandleCreate(handle, outermost != nullptr ? outermost : graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = *handle;
  params.conditional.type = type;
  params.conditional.size = 1;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  return params.conditional.phGraph_out[0];
}

void conditional_nodes(Streams& s) {
  const Range range("conditional");
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  const cudaGraph_t if_body = add_conditional(graph, cudaGraphCondTypeIf, &handle);
  CHECK(cudaStreamBeginCaptureToGraph(s.main, if_body, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  CAPTURE(s.main, in_if_body, 2);
  CAPTURE(s.main, second_in_if_body, 2);
  cudaGraph_t same;
  CHECK(cudaStreamEndCapture(s.main, &same));
  const cudaGraph_t while_body = add_conditional(graph, cudaGraphCondTypeWhile, &handle);
  CHECK(cudaStreamBeginCaptureToGraph(s.main, while_body, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  in_while_body<<<1, 1, 0, s.main>>>(g_total, handle);
  CHECK(cudaGetLastError());
  ++g_captured_launches;
  expect("in_while_body", 6);
  CHECK(cudaStreamEndCapture(s.main, &same));
  launch(instantiate(graph), s.main, 2);
  CHECK(cudaStreamSynchronize(s.main));
}

// A conditional node and a kernel behind it, in the body of another.
void nested_conditional_nodes(Streams& s) {
  const Range range("nested");
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  const cudaGraph_t outer = add_conditional(graph, cudaGraphCondTypeIf, &handle);
  const cudaGraph_t inner = add_conditional(outer, cudaGraphCondTypeIf, &handle, graph);
  CHECK(cudaStreamBeginCaptureToGraph(s.main, outer, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  CAPTURE(s.main, behind_nested_body, 2);
  cudaGraph_t same;
  CHECK(cudaStreamEndCapture(s.main, &same));
  CHECK(cudaStreamBeginCaptureToGraph(s.main, inner, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  CAPTURE(s.main, in_nested_body, 2);
  CHECK(cudaStreamEndCapture(s.main, &same));
  launch(instantiate(graph), s.main, 2);
  CHECK(cudaStreamSynchronize(s.main));
}

// Twice from a kernel of another graph, which only a graph may do.
void device_launch(Streams& s) {
  const Range range("device launch");
  const cudaGraph_t graph = CAPTURE_ONE(s, launched_from_device, 2);
  const cudaGraphExec_t exec = instantiate(graph, cudaGraphInstantiateFlagDeviceLaunch);
  CHECK(cudaGraphUpload(exec, s.main));
  CHECK(cudaStreamBeginCapture(s.main, cudaStreamCaptureModeThreadLocal));
  launches_graph<<<1, 1, 0, s.main>>>(exec);
  CHECK(cudaGetLastError());
  ++g_captured_launches;
  expect("launches_graph", 2);
  cudaGraph_t launcher;
  CHECK(cudaStreamEndCapture(s.main, &launcher));
  const cudaGraphExec_t launching = instantiate(launcher);
  for (int i = 0; i < 2; ++i) {
    launch(launching, s.main);
    CHECK(cudaDeviceSynchronize());
  }
  g_device_runs = 2;
}

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

uint64_t now_ns() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

void serve() {
  constexpr int kKernels = 500;
  Streams s;
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaStreamBeginCapture(s.main, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kKernels; ++i) one_microsecond<<<1, 32, 0, s.main>>>();
  CHECK(cudaGetLastError());
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(s.main, &graph));
  const cudaGraphExec_t exec = instantiate(graph);
  const auto replay = [&](long times, bool answer) {
    CHECK(cudaStreamSynchronize(s.main));
    const uint64_t t0 = now_ns();
    CHECK(cudaEventRecord(begin, s.main));
    for (long i = 0; i < times; ++i) CHECK(cudaGraphLaunch(exec, s.main));
    const uint64_t t1 = now_ns();
    CHECK(cudaEventRecord(end, s.main));
    CHECK(cudaStreamSynchronize(s.main));
    const uint64_t t2 = now_ns();
    float gpu_ms = 0;
    CHECK(cudaEventElapsedTime(&gpu_ms, begin, end));
    const double n = static_cast<double>(times);
    if (!answer) return;
    std::printf("{\"replays\": %ld, \"host_ns\": %.3f, \"wall_ns\": %.3f, \"gpu_ns\": %.3f}\n", times,
                static_cast<double>(t1 - t0) / n, static_cast<double>(t2 - t0) / n, gpu_ms * 1e6 / n);
    std::fflush(stdout);
  };
  replay(200, false);
  std::puts("ready");
  std::fflush(stdout);
  char line[128];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    long times = 0;
    if (std::sscanf(line, "loop %ld", &times) != 1 || times <= 0) break;
    replay(times, true);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--serve") == 0) {
    serve();
    return 0;
  }
  CHECK(cudaMalloc(&g_total, 2 * sizeof *g_total));
  CHECK(cudaMemset(g_total, 0, 2 * sizeof *g_total));
  ++g_fills;
  Streams s;
  if (argc > 1 && std::strcmp(argv[1], "--special") == 0) {
    conditional_nodes(s);
    nested_conditional_nodes(s);
    device_launch(s);
  } else {
    capture_modes(s);
    added_nodes(s);
    copies_of_graphs(s);
    changed_graphs(s);
    threads(s);
  }
  unsigned long long total = 0;
  CHECK(cudaMemcpy(&total, g_total, sizeof total, cudaMemcpyDeviceToHost));
  ++g_copies;
  CHECK(cudaDeviceSynchronize());
  print(total);
  return 0;
}
