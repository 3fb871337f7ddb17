// PROF_PARTS: each cuProfilerStart starts a recording with its own log, which is complete: kernels, streams, names and
// GPU times are defined in it again. Events between two recordings are in none. Repeated starts and stops change
// nothing; after the last requested recording nothing is recorded. Threads that were in one recording are in the next;
// threads that end between two leave no state.
// Env: PROF_START=profiler SIM="cupti forced_kills"
// Shell: PROF_PARTS=3 {run} 5 && ls {dir}/*-2.plog {dir}/*-3.plog | wc -l && mkdir {dir}/all && PROF_PARTS=0 PROF_OUTPUT={dir}/all {run} 2
// Expect: status 0
// Expect: stderr empty
// Expect: stdout 2
// Expect: logs 5
// Expect: log 1: 5 kernel_launch(inside), 5 kernel_launch, 5 kernel_run, 1 nvtx_push(part), 2 api_call(cuProfilerStart), 1 api_call(cuProfilerStop), whole, 0 lost
// Expect: log 2: 5 kernel_launch(inside), 5 kernel_launch, 5 kernel_run, 1 nvtx_push(part), 2 api_call(cuProfilerStart), 1 api_call(cuProfilerStop), whole, 0 lost
// Expect: log 3: 5 kernel_launch(inside), 5 kernel_launch, 5 kernel_run, 1 nvtx_push(part), whole, 0 lost, text meta key="gpu_times" value="on"
// Expect: log 4: 5 kernel_launch(inside), 5 kernel_launch, 5 kernel_run, whole, 0 lost
// Expect: log 5: 5 kernel_launch(inside), 5 kernel_launch, 5 kernel_run, whole, 0 lost
// Expect: trace: 25 x "cat":"kernel"
// Expect: trace: 25 x "ph":"f",.*"cat":"ac2g"
#include "tests/sim/sim_program.h"

#include <cudaProfiler.h>
#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <thread>

using namespace sim_program;

int main(int, char** argv) {
  const CUcontext context = make_context();
  const CUfunction inside = kernel("inside"), between = kernel("between");
  const CUstream stream = make_stream();
  std::atomic<int> turn{0};  // odd: the other thread's turn
  const int parts = std::atoi(argv[1]);
  std::thread other([&] {
    SIM_CHECK(cuCtxSetCurrent(context));
    for (int part = 0; part < parts; ++part) {
      while (turn.load() != 2 * part + 1) std::this_thread::yield();
      SIM_CHECK(launch(inside, stream));
      turn.fetch_add(1);
    }
  });
  for (int part = 0; part < parts; ++part) {
    SIM_CHECK(cuProfilerStop());  // nothing had started
    SIM_CHECK(cuProfilerStart());
    SIM_CHECK(cuProfilerStart());  // a second start changes nothing
    nvtxRangePushA("part");
    for (int i = 0; i < 3; ++i) SIM_CHECK(launch(inside, i == 0 ? stream : nullptr));
    turn.fetch_add(1);
    while (turn.load() != 2 * part + 2) std::this_thread::yield();
    std::thread([&] {
      SIM_CHECK(cuCtxSetCurrent(context));
      SIM_CHECK(launch(inside, stream));
    }).join();
    SIM_CHECK(cuCtxSynchronize());
    nvtxRangePop();
    SIM_CHECK(cuProfilerStop());
    for (int i = 0; i < 100; ++i) SIM_CHECK(launch(between, stream));
    SIM_CHECK(cuCtxSynchronize());
  }
  other.join();
}
