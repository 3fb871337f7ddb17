// Threads launch while the process exits. After the driver's exit handler their launches fail, as without the recorder.
// A thread that then works on for 0.3 ms and ends the process itself must not find the time to do so, although the
// recorder still closes its log. (A few times it may: the exiting thread may lose its processor.)
// Env: SIM="kernel small 5000" SIM_CLOCK=real
// Shell: early=0; for i in 1 2 3 4 5 6 7 8; do {run}; [ $? = 7 ] || early=$((early + 1)); done; [ $early -le 3 ]
// Expect: status 0
// Expect: stderr empty
// Expect: logs 8
#include "tests/sim/sim_program.h"

#include <unistd.h>

#include <chrono>
#include <thread>

using namespace sim_program;

namespace {

void launch_until_the_end(CUcontext context, CUfunction function) {
  SIM_CHECK(cuCtxSetCurrent(context));
  const CUstream stream = make_stream();
  CUresult result = CUDA_SUCCESS;
  while ((result = launch(function, stream)) == CUDA_SUCCESS) {}
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(300);
  while (std::chrono::steady_clock::now() < end) {}
  _exit(result == CUDA_ERROR_DEINITIALIZED ? 99 : 98);
}

}  // namespace

int main() {
  const CUcontext context = make_context();
  const CUfunction function = kernel("small");
  for (int i = 0; i < 2; ++i) std::thread(launch_until_the_end, context, function).detach();
  for (int i = 0; i < 50; ++i) {
    SIM_CHECK(launch(function));
    usleep(100);
  }
  return 7;
}
