// The program limits its memory (RLIMIT_DATA, then RLIMIT_AS) before its first CUDA call: it runs, and is recorded or
// one line gives the reason. No empty log is left.
// Env: PROF_GPU=off
// Shell: ulimit -s 512; for kind in data space; do for mib in 2 8 48 128; do {run} $kind $mib > out 2> err || exit 1; lines=$(grep -c ^libprof: err); logs=$(ls *.plog 2>/dev/null | wc -l); echo "$kind $mib: $((lines + logs))"; rm -f *.plog; done; done; {run} data 2 && {run} data 0
// Expect: status 0
// Expect: stdout data 2: 1
// Expect: stdout data 8: 1
// Expect: stdout data 48: 1
// Expect: stdout data 128: 1
// Expect: stdout space 2: 1
// Expect: stdout space 48: 1
// Expect: stdout space 128: 1
// Expect: stderr once RLIMIT_DATA
// Expect: logs 1
// Expect: log 1: 100 kernel_launch, whole, 0 lost
#include "tests/sim/sim_program.h"

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace sim_program;

// Bytes of address space or of data that the process uses now.
static rlim_t used(bool data) {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  unsigned long all = 0, resident = 0, shared = 0, text = 0, library = 0, own = 0;
  const int read = std::fscanf(file, "%lu %lu %lu %lu %lu %lu", &all, &resident, &shared, &text, &library, &own);
  std::fclose(file);
  return read == 6 ? (data ? own : all) * 4096 : 0;
}

int main(int, char** argv) {
  const bool data = std::string_view(argv[1]) == "data";
  const rlim_t mebibytes = std::strtoul(argv[2], nullptr, 10);
  // The driver's memory is allocated first, so that the limit meets the recorder.
  void* const room = std::malloc(8 << 20);
  std::free(room);
  if (mebibytes != 0) {
    rlimit limit{};
    limit.rlim_cur = limit.rlim_max = used(data) + (mebibytes << 20);
    if (setrlimit(data ? RLIMIT_DATA : RLIMIT_AS, &limit) != 0) return 1;
  }
  make_context();
  for (int i = 0; i < 100; ++i) SIM_CHECK(launch(kernel("kernel")));
  return 0;
}
