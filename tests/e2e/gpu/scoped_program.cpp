// tests/sim/scoped_profiler.h on the simulated GPU. Compiled twice: with TOOL_LINKED it calls the functions it was
// linked with, otherwise those that dlsym finds.
#include "tests/sim/sim_program.h"

#include "tests/sim/scoped_profiler.h"

#include <cudaProfiler.h>

namespace {

void work(int count) {
  using namespace sim_program;
  const CUstream stream = make_stream();
  const CUdeviceptr memory = allocate(4096);
  static char host[4096];
  SIM_CHECK(cuMemsetD8Async(memory, 1, 4096, stream));
  SIM_CHECK(cuMemcpyHtoDAsync(memory, host, sizeof host, stream));
  for (int i = 0; i < count; ++i) SIM_CHECK(launch(kernel("alpha"), stream));
  SIM_CHECK(cuCtxSynchronize());
  SIM_CHECK(cuStreamDestroy(stream));
  SIM_CHECK(cuMemFree(memory));
}

}  // namespace

int main(int argc, char** argv) {
  return scoped_profiler::run(
      argc, argv, [] { sim_program::make_context(); }, work, [] { SIM_CHECK(cuProfilerStart()); });
}
