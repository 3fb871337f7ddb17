// A training loop as readers of torch.profiler's traces expect it: ranges ProfilerStep#n around launches, copies, fills
// and waits of the CUDA runtime on three streams, one of them for a kernel with an NCCL name. e2e.hta passes its trace
// to Holistic Trace Analysis.
// Env: SIM_SCRIPT=/dev/null
// Link: runtime
// Expect: status 0
// Expect: log 1: 66 kernel_launch, 66 kernel_run, 12 copy_run, 6 fill_run, 1 nvtx_push(ProfilerStep#3), 6 nvtx_push(model), 0 lost, whole
// Expect: trace: "cat":"cuda_runtime","name":"cudaLaunchKernel"
// Expect: trace: "cat":"user_annotation","name":"ProfilerStep#6"
// Expect: trace: "cat":"gpu_user_annotation","name":"ProfilerStep#6"
// Expect: trace: "cat":"cuda_sync","name":"Stream Wait Event"
// Expect: trace: "cat":"cuda_sync","name":"Event Sync"
// Expect: trace: "cat":"cuda_sync","name":"Stream Sync"
// Expect: trace: "cat":"cuda_sync","name":"Context Sync"
// Expect: trace valid
#include "tests/e2e/programs/linking/runtime_program.h"

#include <nvtx3/nvToolsExt.h>
#include <string>

static void forward_stub() {}
static void backward_stub() {}
static void reduce_stub() {}

int main(int count, char** given) {
  const std::string name = count > 1 ? given[1] : "ProfilerStep#";  // of its step ranges
  const void* const forward = runtime_program::kernel(forward_stub, "forward");
  const void* const backward = runtime_program::kernel(backward_stub, "backward");
  const void* const reduce = runtime_program::kernel(reduce_stub, "ncclKernel_AllReduce");
  static char host[4096];
  void* memory = nullptr;
  cudaStream_t compute = nullptr, copies = nullptr, network = nullptr;
  cudaEvent_t loaded = nullptr, computed = nullptr, reduced = nullptr, done = nullptr;
  RUNTIME_CHECK(cudaMalloc(&memory, sizeof host));
  for (cudaStream_t* stream : {&compute, &copies, &network}) RUNTIME_CHECK(cudaStreamCreate(stream));
  for (cudaEvent_t* event : {&loaded, &computed, &reduced, &done}) RUNTIME_CHECK(cudaEventCreate(event));
  void* arguments[] = {&memory};
  for (int step = 1; step <= 6; ++step) {
    nvtxRangePushA((name + std::to_string(step)).c_str());
    RUNTIME_CHECK(cudaMemcpyAsync(memory, host, sizeof host, cudaMemcpyHostToDevice, copies));
    RUNTIME_CHECK(cudaEventRecord(loaded, copies));
    RUNTIME_CHECK(cudaStreamWaitEvent(compute, loaded, 0));
    nvtxRangePushA("model");
    for (int layer = 0; layer < 5; ++layer)
      RUNTIME_CHECK(cudaLaunchKernel(forward, dim3(4), dim3(64), arguments, 0, compute));
    for (int layer = 0; layer < 5; ++layer)
      RUNTIME_CHECK(cudaLaunchKernel(backward, dim3(8), dim3(64), arguments, 0, compute));
    nvtxRangePop();
    RUNTIME_CHECK(cudaEventRecord(computed, compute));
    RUNTIME_CHECK(cudaStreamWaitEvent(network, computed, 0));
    RUNTIME_CHECK(cudaLaunchKernel(reduce, dim3(2), dim3(64), arguments, 0, network));
    RUNTIME_CHECK(cudaEventRecord(reduced, network));
    RUNTIME_CHECK(cudaStreamWaitEvent(compute, reduced, 0));
    RUNTIME_CHECK(cudaMemsetAsync(memory, 0, sizeof host, compute));
    RUNTIME_CHECK(cudaMemcpyAsync(host, memory, sizeof host, cudaMemcpyDeviceToHost, compute));
    RUNTIME_CHECK(cudaEventRecord(done, compute));
    RUNTIME_CHECK(cudaStreamWaitEvent(compute, done, 0));  // a stream orders this anyway
    if (step % 3 == 0) {
      RUNTIME_CHECK(cudaDeviceSynchronize());
    } else if (step % 3 == 1) {
      RUNTIME_CHECK(cudaEventSynchronize(done));
    } else {
      RUNTIME_CHECK(cudaStreamSynchronize(compute));
    }
    nvtxRangePop();
  }
}
