// Stacks of a program that uses a shared CUDA runtime: a launch goes through an entry of the recorder, and no frame of
// the recorder is in any stack.
// Env: PROF_STACKS=launch
// Link: runtime
// Expect: status 0
// Expect: log 1: 10 kernel_launch, 10 stack(cudaLaunchKernel < launch_it < main), no stack(prof_), whole, 0 lost
// Expect: report hot-stacks: launch_it
// Expect: report hot-stacks: 0 x prof_cudart_enter|libprof
#include "tests/e2e/programs/linking/runtime_program.h"

static void add_stub() {}

__attribute__((noinline)) void launch_it(const void* add, void** arguments) {
  for (int i = 0; i < 10; ++i) RUNTIME_CHECK(cudaLaunchKernel(add, dim3(4), dim3(64), arguments, 0, nullptr));
  RUNTIME_CHECK(cudaDeviceSynchronize());
}

int main() {
  const void* const add = runtime_program::kernel(add_stub, "add");
  void* memory = nullptr;
  RUNTIME_CHECK(cudaMalloc(&memory, 1024));
  void* arguments[] = {&memory};
  launch_it(add, arguments);
}
