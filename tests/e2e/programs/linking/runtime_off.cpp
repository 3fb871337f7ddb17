// PROF_RUNTIME=off: only driver calls are recorded, and the program gets the same functions as without libprof.
// Env: PROF_GPU=off PROF_RUNTIME=off
// Link: runtime
// Expect: status 0
// Expect: log 1: 2 kernel_launch(add), no api_call(cudaLaunchKernel), no api_call(cudaStreamCreate), 1 api_call(cuStreamCreate), 0 lost, whole
#include "tests/e2e/programs/linking/runtime_program.h"

static void add_stub() {}

int main() {
  const void* const add = runtime_program::kernel(add_stub, "add");
  cudaStream_t stream = nullptr;
  RUNTIME_CHECK(cudaStreamCreate(&stream));
  for (int i = 0; i < 2; ++i) RUNTIME_CHECK(cudaLaunchKernel(add, dim3(4), dim3(64), nullptr, 96, stream));
  return 0;
}
