// PROF_REPEAT_KERNEL=scale:2=50: the second launch of the kernel that the source calls scale is repeated fifty times,
// directly after it, on its stream, inside its own range. Other launches of the program, kernels with similar names,
// and captured launches are not repeated. A repeat that fails ends the repetition, and the program does not see the
// error. Without PROF_ASSUME_IDEMPOTENT=1 nothing is repeated and one line reports it.
// Env: PROF_REPEAT_KERNEL=app::scale:2=50
// Shell: PROF_ASSUME_IDEMPOTENT=1 {run} && {run} && SIM='fault cuLaunchKernel 8 700' PROF_ASSUME_IDEMPOTENT=1 {run} && PROF_REPEAT_KERNEL=scale=0 PROF_ASSUME_IDEMPOTENT=1 {run}
// Expect: status 0
// Expect: logs 4
// Expect: log 1: 54 kernel_launch(_ZN3app5scaleEPff), 1 kernel_launch(_ZN3app7rescaleEPff), 54 kernel_run, whole, 0 lost
// Expect: log 1: 1 nvtx_push(repeat app::scale, launch 2), 1 nvtx_pop, counter launches_repeated 50
// Expect: log 2: 4 kernel_launch(_ZN3app5scaleEPff), no nvtx_push, counter launches_repeated 0, whole, 0 lost
// Expect: log 3: 8 kernel_launch(_ZN3app5scaleEPff), 1 nvtx_push, 1 nvtx_pop, counter launches_repeated 3, whole, 0 lost
// Expect: log 4: 4 kernel_launch(_ZN3app5scaleEPff), no nvtx_push, whole, 0 lost
// Expect: stderr PROF_REPEAT_KERNEL needs PROF_ASSUME_IDEMPOTENT=1
// Expect: stderr PROF_REPEAT_KERNEL is not valid
// Expect: stderr repeating app::scale ended: the driver answered repetition 4 of 50 with error 700
// Expect: stderr once repeating app::scale ended
#include "tests/sim/sim_program.h"

using namespace sim_program;

int main() {
  make_context();
  const CUfunction scale = kernel("_ZN3app5scaleEPff"), other = kernel("_ZN3app7rescaleEPff");
  const CUstream stream = make_stream();
  SIM_CHECK(launch(other, stream));
  SIM_CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  SIM_CHECK(launch(scale, stream));  // becomes a node, and is not counted as a launch
  CUgraph graph = nullptr;
  SIM_CHECK(cuStreamEndCapture(stream, &graph));
  for (int i = 0; i < 3; ++i) SIM_CHECK(launch(scale, stream));
  SIM_CHECK(cuCtxSynchronize());
}
