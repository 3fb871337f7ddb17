// Nodes of graphs have the stack of the call that captured or added them, so that replayed kernels show that line.
// Env: PROF_STACKS=launch
// Link: cupti
// Expect: status 0
// Expect: log 1: 3 graph_node, 4 stack(^captures < main <), 1 stack(^adds < main <), 2 stack(^replays < main <), 0 lost, whole
#include "tests/sim/sim_program.h"

namespace {

CUfunction g_function;
CUstream g_stream;
CUgraph g_graph;

__attribute__((noinline)) void captures() {
  SIM_CHECK(cuStreamBeginCapture(g_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  for (int i = 0; i < 2; ++i) SIM_CHECK(sim_program::launch(g_function, g_stream));
  SIM_CHECK(cuStreamEndCapture(g_stream, &g_graph));
}
__attribute__((noinline)) void adds() {
  CUDA_KERNEL_NODE_PARAMS parameters{};
  parameters.func = g_function;
  parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
  parameters.blockDimX = 32, parameters.blockDimY = parameters.blockDimZ = 1;
  CUgraphNode node = nullptr;
  SIM_CHECK(cuGraphAddKernelNode(&node, g_graph, nullptr, 0, &parameters));
}
__attribute__((noinline)) void replays() {
  CUgraphExec exec = nullptr;
  SIM_CHECK(cuGraphInstantiate(&exec, g_graph, 0));
  for (int i = 0; i < 2; ++i) SIM_CHECK(cuGraphLaunch(exec, g_stream));
  SIM_CHECK(cuStreamSynchronize(g_stream));
}

}  // namespace

int main() {
  sim_program::make_context();
  g_function = sim_program::kernel("kernel");
  g_stream = sim_program::make_stream();
  captures();
  adds();
  replays();
}
