// A program that launches as JAX does on a GPU of today: its kernels use programmatic dependent launch, so its stream
// gets no completion marks. It compiles for a while on the host. Then it launches a graph of 48 kernels every 600 us,
// and records one event after each. The GPU finishes each graph before the next one is launched. The recorder queries
// the event before it is recorded again, if that halves the depth. So a launch has the depth of one graph.
// Env: PROF_GPU=off PROF_CLOCK=sim_now_ns SIM='kernel * 1000; api * 1000'
// Expect: status 0
// Expect: log 1: 1 graph_launch(depth=1), 1 graph_launch(depth=49), 18 graph_launch(depth=48),
//    1 kernel_launch(after_graphs depth=48), whole, 0 lost
#include "tests/sim/sim_program.h"

namespace {

constexpr int kNodes = 48, kGraphs = 20;
constexpr uint64_t kCompiling = 400'000'000, kPreparing = 600'000;  // ns

CUgraphExec graph_of(CUfunction function) {
  CUgraph graph = nullptr;
  SIM_CHECK(cuGraphCreate(&graph, 0));
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = function;
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = 32;
  params.blockDimY = params.blockDimZ = 1;
  CUgraphNode last = nullptr;
  for (int i = 0; i < kNodes; ++i)
    SIM_CHECK(cuGraphAddKernelNode(&last, graph, i != 0 ? &last : nullptr, i != 0 ? 1 : 0, &params));
  CUgraphExec exec = nullptr;
  SIM_CHECK(cuGraphInstantiate(&exec, graph, 0));
  return exec;
}

void launch_dependent(CUfunction function, CUstream stream) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 32;
  config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  SIM_CHECK(cuLaunchKernelEx(&config, function, nullptr, nullptr));
}

}  // namespace

int main() {
  using sim_program::kernel;
  sim_program::make_context();
  const CUstream work = sim_program::make_stream();
  const CUfunction node = kernel("node"), after = kernel("after_graphs");
  CUevent done = nullptr;
  SIM_CHECK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
  launch_dependent(kernel("first"), work);
  SIM_CHECK(cuEventRecord(done, work));
  const CUgraphExec exec = graph_of(node);
  sim_advance_ns(kCompiling);
  for (int i = 0; i < kGraphs; ++i) {
    SIM_CHECK(cuGraphLaunch(exec, work));
    SIM_CHECK(cuEventRecord(done, work));
    sim_advance_ns(kPreparing);
  }
  launch_dependent(after, work);
}
