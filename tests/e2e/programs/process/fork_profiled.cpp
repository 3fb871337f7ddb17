// A program that shares CUPTI with the recorder forks. No child uses CUPTI, which would end it here, or the parent's
// log. A child that may use the GPU (no process had used it before) records its own log without GPU times; a child that
// may not use it records its attempts. The program's own profiler still gets every kernel of the parent.
// Link: cupti
// Env: SIM="cupti child_dies"
// Expect: status 0
// Expect: stderr no GPU times: this is a child of a process that used CUPTI; the host side is recorded
// Expect: logs 3
// Expect: log 1: 4 kernel_launch, 4 kernel_launch(parent), 4 kernel_run, counter cupti_shared 1, whole, 0 lost
// Expect: log 2: 2 kernel_launch, 2 kernel_launch(child), no kernel_run, 1 api_call(cuInit), text value="this is a child of a process that used CUPTI", whole
// Expect: log 3: no kernel_launch(parent), no kernel_run, 1 api_call(cuInit), whole
#include "tests/sim/sim_program.h"

#undef __CUDA_API_VERSION_INTERNAL
#include <cupti.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

static std::atomic<int> g_kernels{0};

static void request(uint8_t** buffer, size_t* size, size_t* most) {
  *size = 64 * 1024, *most = 0;
  *buffer = static_cast<uint8_t*>(aligned_alloc(8, *size));
}

static void complete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
    g_kernels += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  free(buffer);
}

static int ended(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

int main() {
  if (cuptiActivityRegisterCallbacks(request, complete) != CUPTI_SUCCESS) return 1;
  if (cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS) return 2;
  pid_t child = fork();
  if (child == 0) {
    sim_program::make_context();
    const CUfunction function = sim_program::kernel("child");
    for (int i = 0; i < 2; ++i) SIM_CHECK(sim_program::launch(function));
    SIM_CHECK(cuCtxSynchronize());
    return 0;
  }
  if (ended(child) != 0) return 3;

  sim_program::make_context();
  const CUfunction function = sim_program::kernel("parent");
  for (int i = 0; i < 3; ++i) SIM_CHECK(sim_program::launch(function));
  child = fork();
  if (child == 0) return cuInit(0) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1;
  if (ended(child) != 0) return 4;

  SIM_CHECK(sim_program::launch(function));
  SIM_CHECK(cuCtxSynchronize());
  if (cuptiActivityFlushAll(0) != CUPTI_SUCCESS) return 5;
  return g_kernels == 4 ? 0 : 6;
}
