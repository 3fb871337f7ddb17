// CUDA graphs that the device controls: conditional nodes and a graph that a kernel launches. CUPTI may not report
// everything that runs. Prints the same JSON as graphs.cu. Built with the static cudart and -rdc=true (launches from
// the device).
#include "graph_program.cuh"

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

namespace {

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

// A conditional node and a kernel after it, in the body of another.
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

// Launched twice from a kernel of another graph, because only a graph may do that.
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

}  // namespace

int main() {
  return run_graphs([](Streams& s) {
    conditional_nodes(s);
    nested_conditional_nodes(s);
    device_launch(s);
  });
}
