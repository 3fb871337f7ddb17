// A program that never synchronises and waits by host functions, as JAX does: an event is recorded after each launch,
// another stream waits for it and runs a host function. Before the event is recorded again or destroyed, the recorder
// queries it. So the live depth is that of the launches since. The recorded time of the calls is theirs alone.
// Env: PROF_GPU=off PROF_CLOCK=sim_now_ns SIM='kernel * 100000; api * 1000; api cuEventQuery 50000'
// Expect: status 0
// Expect: log 1: 1 kernel_launch(step depth=0), 29 kernel_launch(step depth=1), whole, 0 lost
// Expect: log 1: 30 api_call(cuEventRecord duration=1000), 2 api_call(cuEventDestroy_v2 duration=1000)
// Expect: log 1: 1 kernel_launch(after_destroy depth=0), 1 kernel_launch(still_outstanding depth=2)
#include "tests/sim/sim_program.h"

namespace {

constexpr uint64_t kLong = 20'000'000;  // ns; longer than any pause between two queries

}  // namespace

int main() {
  using sim_program::kernel;
  sim_program::make_context();
  const CUstream work = sim_program::make_stream(), side = sim_program::make_stream();
  CUevent done = nullptr, last = nullptr;
  SIM_CHECK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
  const CUfunction step = kernel("step");
  for (int i = 0; i < 30; ++i) {
    SIM_CHECK(sim_program::launch(step, work));
    SIM_CHECK(cuEventRecord(done, work));
    SIM_CHECK(cuStreamWaitEvent(side, done, 0));
    SIM_CHECK(cuLaunchHostFunc(
        side, [](void*) {}, nullptr));
    sim_advance_ns(kLong);
  }
  SIM_CHECK(cuEventDestroy(done));
  SIM_CHECK(sim_program::launch(kernel("after_destroy"), work));
  SIM_CHECK(cuEventCreate(&last, CU_EVENT_DISABLE_TIMING));
  sim_advance_ns(kLong);
  SIM_CHECK(sim_program::launch(kernel("quick"), work));
  SIM_CHECK(cuEventRecordWithFlags(last, work, 0));
  SIM_CHECK(cuEventDestroy(last));  // its launch has not finished
  SIM_CHECK(sim_program::launch(kernel("still_outstanding"), work));
}
