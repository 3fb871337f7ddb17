// Every hook leaves errno as the driver set it, including the first recorded call and slow paths.
// Expect: status 0
// Expect: log 1: >=2000 kernel_launch(kernel), whole
#include "tests/sim/sim_program.h"

#include <cerrno>
#include <initializer_list>

int main() {
  for (const int value : {0, 77}) {
    errno = value;
    if (cuInit(0) != CUDA_SUCCESS || errno != value) return 1;
  }
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (unsigned i = 0; i < 2000; ++i) {
    errno = 77;
    if (sim_program::launch(function, nullptr, 1 + i % 50) != CUDA_SUCCESS || errno != 77) return 2;
  }
  errno = 78;
  if (cuCtxSynchronize() != CUDA_SUCCESS || errno != 78) return 3;
  return 0;
}
