// A program that runs long: many short threads, kernels with new names all the time, streams made and destroyed, a day
// of launches on the virtual clock. It prints its private memory from time to time. Usage: soak_program THREADS NAMES
// STREAMS LAUNCHES_OF_A_DAY
#include "tests/sim/sim_program.h"

#include <cstring>
#include <string>
#include <thread>

static CUcontext context;

static void tell(const char* phase, long done, long of) {
  if (of >= 10 && done % (of / 10) != 0) return;
  std::FILE* const status = std::fopen("/proc/self/status", "r");
  char line[256];
  long kilobytes = 0;
  while (std::fgets(line, sizeof line, status) != nullptr) std::sscanf(line, "RssAnon: %ld", &kilobytes);
  std::fclose(status);
  std::printf("%s %ld %ld\n", phase, done * 100 / of, kilobytes);
  std::fflush(stdout);
}

int main(int argc, char** argv) {
  if (argc < 5) return 1;
  const long threads = atol(argv[1]), names = atol(argv[2]), streams = atol(argv[3]), launches = atol(argv[4]);
  context = sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  SIM_CHECK(sim_program::launch(function));
  SIM_CHECK(cuCtxSynchronize());
  tell("start", 1, 1);
  for (long i = 1; i <= threads; ++i) {
    std::thread([&] {
      SIM_CHECK(cuCtxSetCurrent(context));
      SIM_CHECK(sim_program::launch(function));
    }).join();
    if (i % 100 == 0) SIM_CHECK(cuCtxSynchronize());
    tell("threads", i, threads);
  }
  for (long i = 1; i <= names; ++i) {  // like a program that compiles kernels while it runs and unloads them again
    CUmodule module = nullptr;
    CUfunction made = nullptr;
    SIM_CHECK(cuModuleLoadData(&module, "image"));
    SIM_CHECK(cuModuleGetFunction(&made, module, ("kernel_number_" + std::to_string(i)).c_str()));
    SIM_CHECK(sim_program::launch(made));
    if (i % 100 == 0) SIM_CHECK(cuCtxSynchronize());
    SIM_CHECK(cuModuleUnload(module));
    tell("names", i, names);
  }
  for (long i = 1; i <= streams; ++i) {
    const CUstream stream = sim_program::make_stream();
    SIM_CHECK(sim_program::launch(function, stream));
    if (i % 100 == 0) SIM_CHECK(cuCtxSynchronize());
    SIM_CHECK(cuStreamDestroy(stream));
    tell("streams", i, streams);
  }
  for (long i = 1; i <= launches; ++i) {
    sim_advance_ns(86'400'000'000'000ull / static_cast<uint64_t>(launches));
    SIM_CHECK(sim_program::launch(function));
    if (i % 100 == 0) SIM_CHECK(cuCtxSynchronize());
    tell("day", i, launches);
  }
}
