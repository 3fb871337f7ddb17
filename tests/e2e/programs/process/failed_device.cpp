// A kernel whose assertion fails ends its context: it has no GPU record, and nothing later runs. The exit does not wait
// for such records, whether or not the program saw the error, and however it ends. Earlier kernels have records.
// Env: SIM="kernel work 20000; kernel bad 20000 asserts" PROF_EXIT_WAIT=60
// Shell: for how in seen unseen launched _exit copy; do timeout -s KILL 20 {run} $how || [ $? = 7 ] || exit 1; done
// Expect: status 0
// Expect: stderr empty
// Expect: logs 5
// Expect: log 1: 101 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 2: 101 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 3: 102 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 4: 101 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 5: 101 kernel_launch, 100 kernel_run, whole, 0 lost
#include "tests/sim/sim_program.h"

#include <unistd.h>

#include <string_view>

using namespace sim_program;

int main(int, char** arguments) {
  const std::string_view how = arguments[1];
  make_context();
  for (int i = 0; i < 100; ++i) SIM_CHECK(launch(kernel("work")));
  SIM_CHECK(cuCtxSynchronize());
  char bytes[64];
  CUdeviceptr memory = 0;
  SIM_CHECK(cuMemAlloc(&memory, sizeof bytes));
  CUfunction late = kernel("late");
  SIM_CHECK(launch(kernel("bad")));
  if (how == "seen" && cuCtxSynchronize() != CUDA_ERROR_ASSERT) return 1;
  if (how == "copy" && cuMemcpyDtoH(bytes, memory, sizeof bytes) != CUDA_ERROR_ASSERT) return 1;
  if (how == "launched") {
    CUresult result = CUDA_SUCCESS;
    for (int i = 0; i < 1000 && result == CUDA_SUCCESS; ++i) {
      usleep(1000);
      result = cuStreamQuery(nullptr);
      if (result == CUDA_ERROR_NOT_READY) result = CUDA_SUCCESS;
    }
    if (result != CUDA_ERROR_ASSERT || launch(late) != CUDA_ERROR_ASSERT) return 1;
  }
  if (how == "_exit") {
    if (cuCtxSynchronize() != CUDA_ERROR_ASSERT) return 1;
    _exit(7);
  }
  return 7;
}
