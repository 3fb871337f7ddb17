// The program that gpu_activity_test.cpp runs under libprof.so on the simulated GPU. Usage: gpu_program MODE [N]
//   work N       N kernels on each of two streams, a copy and a fill, everything waited for
//   threads N    four threads of N kernels, each on a stream of its own
//   hold N       work, then "ready" on stdout and sleep until killed
//   unfinished   a kernel that the script makes long; the program ends without waiting
#include "tests/sim/sim_program.h"

#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

namespace {

using namespace sim_program;

void work(int count) {
  const CUstream streams[] = {make_stream(), make_stream()};
  const CUdeviceptr memory = allocate(4096);
  static char host[4096];
  SIM_CHECK(cuMemsetD8Async(memory, 1, 4096, streams[0]));
  SIM_CHECK(cuMemcpyHtoDAsync(memory, host, sizeof host, streams[1]));
  for (int i = 0; i < count; ++i) {
    SIM_CHECK(launch(kernel("alpha"), streams[0]));
    SIM_CHECK(launch(kernel("beta"), streams[1], 4, 64));
  }
  SIM_CHECK(cuCtxSynchronize());
  for (const CUstream stream : streams) SIM_CHECK(cuStreamDestroy(stream));
  SIM_CHECK(cuMemFree(memory));
}

}  // namespace

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "work";
  const int count = argc > 2 ? atoi(argv[2]) : 10;
  const CUcontext context = make_context();
  kernel("alpha");
  if (strcmp(mode, "threads") == 0) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        SIM_CHECK(cuCtxSetCurrent(context));
        const CUstream stream = make_stream();
        CUfunction function = nullptr;
        function = kernel("alpha");
        for (int i = 0; i < count; ++i) SIM_CHECK(launch(function, stream));
        SIM_CHECK(cuStreamSynchronize(stream));
      });
    }
    for (std::thread& thread : threads) thread.join();
    return 0;
  }
  if (strcmp(mode, "unfinished") == 0) {
    SIM_CHECK(launch(kernel("alpha"), make_stream()));
    SIM_CHECK(launch(kernel("endless"), make_stream()));
    return 0;
  }
  work(count);
  if (strcmp(mode, "hold") == 0) {
    if (write(STDOUT_FILENO, "ready\n", 6) != 6) return 1;
    pause();
  }
  return 0;
}
