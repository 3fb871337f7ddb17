// The same as older_cupti for a program that uses the CUDA runtime. Such a CUPTI does not report driver calls inside a
// runtime call, so the runtime call gives the launch of an operation.
// Env: SIM="cupti no_driver_api"
// Link: runtime
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 11 kernel_launch, 12 kernel_run, 2 copy_run, 1 fill_run, 2 graph_launch, text "every call", whole, 0 lost
// Expect: report gpu-trace: coverage: launches 16, with GPU time 15 .*GPU operations 15, with launch 15;.* lost records 0
#include "tests/e2e/programs/linking/runtime_program.h"

static void add_stub() {}

int main() {
  const void* const add = runtime_program::kernel(add_stub, "add");
  char host[64] = {};
  void* memory = nullptr;
  cudaStream_t stream = nullptr;
  RUNTIME_CHECK(cudaMalloc(&memory, 64));
  RUNTIME_CHECK(cudaStreamCreate(&stream));
  void* arguments[] = {&memory};
  for (int i = 0; i < 10; ++i) {
    RUNTIME_CHECK(cudaLaunchKernel(add, dim3(4), dim3(64), arguments, 0, stream));
    if (i % 3 == 0) RUNTIME_CHECK(cudaStreamSynchronize(stream));
  }
  RUNTIME_CHECK(cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice));
  RUNTIME_CHECK(cudaMemset(memory, 0, 64));
  RUNTIME_CHECK(cudaMemcpyAsync(host, memory, sizeof host, cudaMemcpyDeviceToHost, stream));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  RUNTIME_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  RUNTIME_CHECK(cudaLaunchKernel(add, dim3(4), dim3(64), arguments, 0, stream));
  RUNTIME_CHECK(cudaStreamEndCapture(stream, &graph));
  RUNTIME_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) RUNTIME_CHECK(cudaGraphLaunch(exec, stream));
  RUNTIME_CHECK(cudaDeviceSynchronize());
}
