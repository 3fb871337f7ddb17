// A program linked with a shared CUDA runtime: each call is recorded on both levels, a launch is one launch, arguments
// on the stack are passed on, errno is unchanged, and pure queries are not recorded.
// Env: SIM_SCRIPT=/dev/null
// Link: runtime
// Expect: status 0
// Expect: log 1: 3 kernel_launch(add), 3 kernel_launch, 3 api_call(cudaLaunchKernel), 2 api_call(cudaMalloc), 2 alloc_call(cuMemAlloc_v2)
// Expect: log 1: 1 api_call(cudaMemcpy), 1 memory_launch(cuMemcpyHtoD_v2), 1 api_call(cudaDeviceSynchronize), 1 api_call(cudaSetDevice)
// Expect: log 1: 1 api_call(cudaProfilerStart), 1 api_call(cudaGraphLaunch), 1 graph_launch, 3 kernel_run, 0 lost, whole
// Expect: log 1: no api_call(cudaGetDevice), no api_call(cudaGetLastError), text name="cudaMalloc" level=1, text result=2
// Expect: log 1: text meta key="cuda_runtime_version" value="13000"
// Expect: trace: "cuda_runtime_version":13000,.*"cpu_model":"[^ "].*","cpu_count":[0-9]+
#include "tests/e2e/programs/linking/runtime_program.h"

#include <cuda_profiler_api.h>
#include <cerrno>

static void add_stub() {}

int main() {
  const void* const add = runtime_program::kernel(add_stub, "add");
  errno = 77;
  RUNTIME_CHECK(cudaSetDevice(1));
  int device = 0;
  RUNTIME_CHECK(cudaGetDevice(&device));
  if (device != 1) return 1;
  void* memory = nullptr;
  RUNTIME_CHECK(cudaMalloc(&memory, 1024));
  RUNTIME_CHECK(cudaMemcpy(memory, "abc", 4, cudaMemcpyHostToDevice));
  cudaStream_t stream = nullptr;
  RUNTIME_CHECK(cudaStreamCreate(&stream));
  void* arguments[] = {&memory};
  for (int i = 0; i < 2; ++i) RUNTIME_CHECK(cudaLaunchKernel(add, dim3(4), dim3(64), arguments, 96, stream));
  RUNTIME_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  RUNTIME_CHECK(cudaLaunchKernel(add, dim3(4), dim3(64), arguments, 0, stream));
  cudaGraph_t graph = nullptr;
  RUNTIME_CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec = nullptr;
  RUNTIME_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  RUNTIME_CHECK(cudaGraphLaunch(exec, stream));
  RUNTIME_CHECK(cudaProfilerStart());
  RUNTIME_CHECK(cudaDeviceSynchronize());
  void* too_large = nullptr;
  if (cudaMalloc(&too_large, size_t{1} << 60) != cudaErrorMemoryAllocation) return 2;
  if (cudaGetLastError() != cudaErrorMemoryAllocation) return 3;
  return errno == 77 ? 0 : 4;
}
