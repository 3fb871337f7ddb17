// Python frames by the offsets that the interpreter publishes (3.13 and newer): inner at 20 + 4 lines, outer at 10 + 4
// with the entry bit, none on a thread without a state, and none while the interpreter finalizes.
// Link: cupti shim
// Env: PROF_GPU=off PROF_STACKS=launch
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 3 kernel_launch(kernel), 2 python_frame, text key="python" value="3.14.2", text line=24 first_line=20, text line=14 first_line=10, text python=[2 5], text text="Class.inner", text flags=32, 0 lost, whole
#include "tests/sim/sim_program.h"

#include <pthread.h>

extern "C" void end_python();

int main() {
  static CUcontext context = sim_program::make_context();
  static CUfunction function = sim_program::kernel("kernel");
  SIM_CHECK(sim_program::launch(function));
  pthread_t thread;
  const auto work = [](void*) -> void* {
    SIM_CHECK(cuCtxSetCurrent(context));
    SIM_CHECK(sim_program::launch(function));
    return nullptr;
  };
  if (pthread_create(&thread, nullptr, work, nullptr) != 0) return 1;
  pthread_join(thread, nullptr);
  end_python();
  SIM_CHECK(sim_program::launch(function));
  return 0;
}
