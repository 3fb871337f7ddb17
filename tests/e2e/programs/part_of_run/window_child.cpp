// A child is forked while its parent waits for the next recording, before the GPU was used: its launches in its own
// recording have GPU times, although its context is older than the recording.
// Env: PROF_START=nvtx:step PROF_PARTS=0
// Expect: status 0
// Expect: stderr empty
// Expect: logs 2
// Expect: log 1: 1 nvtx_push(step), no kernel_launch, whole, 0 lost
// Expect: log 2: 1 nvtx_push(step), 2 kernel_launch(inside), 2 kernel_launch, 2 kernel_run, whole, 0 lost
// Expect: trace: 2 x "ph":"f",.*"cat":"ac2g"
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sim_program;

int main() {
  nvtxRangePushA("step");
  nvtxRangePop();
  const pid_t child = fork();
  if (child == 0) {
    make_context();
    const CUfunction before = kernel("before"), inside = kernel("inside");
    SIM_CHECK(launch(before));
    nvtxRangePushA("step");
    for (int i = 0; i < 2; ++i) SIM_CHECK(launch(inside));
    SIM_CHECK(cuCtxSynchronize());
    nvtxRangePop();
    SIM_CHECK(launch(before));
    return 0;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}
