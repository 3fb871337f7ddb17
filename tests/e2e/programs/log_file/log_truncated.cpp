// PROF_SIGBUS=1: the log is truncated while it is written; the program runs on, and one message reports it. The
// program's own SIGBUS goes to the program's handler; without a handler it ends the program as usual. Without
// PROF_SIGBUS the truncation ends the program.
// Env: PROF_GPU=off PROF_SIGBUS=1 PROF_OUTPUT={dir}/a.plog
// Shell: {run} handler || exit $?; rm a.plog; {run} die; [ $? = 135 ] || exit 8; rm a.plog; {run} die_by_kill; [ $? = 135 ] || exit 9; rm a.plog; PROF_SIGBUS=0 {run} cut; [ $? = 135 ] || exit 10
// Expect: status 0
// Expect: stdout own handler ran
// Expect: stdout went on
// Expect: stderr once libprof: the log was truncated while it was written
#include "tests/sim/sim_program.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstring>

static sigjmp_buf back;
static void own_handler(int) { siglongjmp(back, 1); }

// A page beyond the end of its file.
static volatile char* page_without_file() {
  const int fd = open("own_file", O_RDWR | O_CREAT, 0600);
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return static_cast<volatile char*>(page);
}

int main(int, char** argv) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const bool handler = std::strcmp(argv[1], "handler") == 0;
  if (handler) std::signal(SIGBUS, own_handler);
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 1000; ++i) SIM_CHECK(sim_program::launch(function));
  if (std::strcmp(argv[1], "die_by_kill") == 0) {
    kill(getpid(), SIGBUS);
    return 5;
  }
  if (handler || std::strcmp(argv[1], "cut") == 0) {
    if (truncate(getenv("PROF_OUTPUT"), 0) != 0) return 1;
    for (int i = 0; i < 300'000; ++i) SIM_CHECK(sim_program::launch(function));
    std::printf("went on\n");
  }
  if (sigsetjmp(back, 1) == 0) {
    *page_without_file() = 1;
    return 2;
  }
  std::printf("own handler ran\n");
}
