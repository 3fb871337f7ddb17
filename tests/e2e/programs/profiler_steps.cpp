// A training loop as readers of torch.profiler's traces expect one: ranges ProfilerStep#n around launches, copies, fills and waits of
// the CUDA run time on two streams. e2e.hta_steps gives its trace to Holistic Trace Analysis.
// Env: SIM_SCRIPT=/dev/null
// Link: runtime
// Expect: status 0
// Expect: log 1: 60 kernel_launch, 60 kernel_run, 12 copy_run, 6 fill_run, 1 nvtx_push(ProfilerStep#3), 6 nvtx_push(model), 0 lost, whole
// Expect: trace: "cat":"cuda_runtime","name":"cudaLaunchKernel"
// Expect: trace: "cat":"user_annotation","name":"ProfilerStep#7"
// Expect: trace valid
#include "tests/e2e/programs/runtime_program.h"

#include <nvtx3/nvToolsExt.h>
#include <string>

static void forward_stub() {}
static void backward_stub() {}

int main() {
  const void* const forward = runtime_program::kernel(forward_stub, "forward");
  const void* const backward = runtime_program::kernel(backward_stub, "backward");
  static char host[4096];
  void* memory = nullptr;
  cudaStream_t compute = nullptr, copies = nullptr;
  cudaEvent_t loaded = nullptr;
  RUNTIME_CHECK(cudaMalloc(&memory, sizeof host));
  RUNTIME_CHECK(cudaStreamCreate(&compute));
  RUNTIME_CHECK(cudaStreamCreate(&copies));
  RUNTIME_CHECK(cudaEventCreate(&loaded));
  void* arguments[] = {&memory};
  for (int step = 1; step <= 6; ++step) {
    nvtxRangePushA(("ProfilerStep#" + std::to_string(step)).c_str());
    RUNTIME_CHECK(cudaMemcpyAsync(memory, host, sizeof host, cudaMemcpyHostToDevice, copies));
    RUNTIME_CHECK(cudaEventRecord(loaded, copies));
    RUNTIME_CHECK(cudaStreamWaitEvent(compute, loaded, 0));
    nvtxRangePushA("model");
    for (int layer = 0; layer < 5; ++layer)
      RUNTIME_CHECK(cudaLaunchKernel(forward, dim3(4), dim3(64), arguments, 0, compute));
    for (int layer = 0; layer < 5; ++layer)
      RUNTIME_CHECK(cudaLaunchKernel(backward, dim3(8), dim3(64), arguments, 0, compute));
    nvtxRangePop();
    RUNTIME_CHECK(cudaMemsetAsync(memory, 0, sizeof host, compute));
    RUNTIME_CHECK(cudaMemcpyAsync(host, memory, sizeof host, cudaMemcpyDeviceToHost, compute));
    RUNTIME_CHECK(cudaStreamSynchronize(compute));
    nvtxRangePop();
  }
  nvtxRangePushA(
      "ProfilerStep#7");  // the last step is left out by who takes steps for what lies between two beginnings
  nvtxRangePop();
}
