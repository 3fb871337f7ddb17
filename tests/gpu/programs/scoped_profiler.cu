// tests/sim/scoped_profiler.h on a real GPU: a program that profiles itself by CUPTI's global and subscriber-scoped
// APIs. TOOL_CUPTI is the libcupti that it opens. Launches are driver calls of the program itself, because CUPTI's kind
// DRIVER has no calls inside a call of the runtime.
#include "../../sim/scoped_profiler.h"

#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_runtime.h>

namespace {

__global__ void alpha(int* to) { *to += 1; }

void must(int result, const char* what) {
  if (result == 0) return;
  fprintf(stderr, "%s: %d\n", what, result);
  exit(97);
}
#define MUST(call) must(static_cast<int>(call), #call)

CUfunction function = nullptr;

void make_context() {
  MUST(cudaFree(nullptr));
  cudaFunction_t found = nullptr;
  MUST(cudaGetFuncBySymbol(&found, reinterpret_cast<const void*>(alpha)));
  function = reinterpret_cast<CUfunction>(found);
}

void work(int count) {
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  static char host[4096];
  MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  MUST(cuMemAlloc(&memory, sizeof host));
  MUST(cuMemsetD8Async(memory, 1, sizeof host, stream));
  MUST(cuMemcpyHtoDAsync(memory, host, sizeof host, stream));
  void* arguments[] = {&memory};
  for (int i = 0; i < count; ++i) MUST(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  MUST(cuCtxSynchronize());
  MUST(cuStreamDestroy(stream));
  MUST(cuMemFree(memory));
}

}  // namespace

int main(int argc, char** argv) {
  return scoped_profiler::run(argc, argv, make_context, work, [] { MUST(cuProfilerStart()); });
}
