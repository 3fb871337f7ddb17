// CUDA graphs built in every way, each with its own kernels. The program prints as JSON how often each ran, and which
// thread captured or added it inside which NVTX ranges.
#include "graph_program.cuh"

#include <thread>
#include <vector>

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

namespace {

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

cudaKernelNodeParams kernel_node(Kernel kernel, void** args) {
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(kernel);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = args;
  return params;
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

}  // namespace

int main() {
  return run_graphs([](Streams& s) {
    capture_modes(s);
    added_nodes(s);
    copies_of_graphs(s);
    changed_graphs(s);
    threads(s);
  });
}
