// Per-thread default streams: one for each thread and context, also if all of them are identified by 0.
// Expect: status 0
// Expect: log 1: 2 context, 6 stream, 12 kernel_launch, 12 kernel_run, whole, 0 lost
// Expect: trace: launches 12, with GPU time 12; GPU operations 12, with launch 12
#include "tests/sim/sim_program.h"

#include <initializer_list>

#include <thread>
#include <vector>

extern "C" CUresult cuLaunchKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                        unsigned, CUstream, void**, void**);

int main() {
  const CUcontext contexts[] = {sim_program::make_context(0), sim_program::make_context(1)};
  const CUfunction function = sim_program::kernel("kernel");
  const auto work = [&] {
    for (const CUcontext context : {contexts[0], contexts[1], contexts[0], contexts[1]}) {
      SIM_CHECK(cuCtxSetCurrent(context));
      SIM_CHECK(cuLaunchKernel_ptsz(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
    }
  };
  work();
  std::thread first(work);
  first.join();
  std::thread second(work);  // its thread-local storage may be that of the first thread
  second.join();
  for (const CUcontext context : contexts) {
    SIM_CHECK(cuCtxSetCurrent(context));
    SIM_CHECK(cuCtxSynchronize());
  }
}
