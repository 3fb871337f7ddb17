// Ends in one of several ways while two threads launch, argv[3] ms after the start of the second burst of GPU times
// (PROF_BUDGET). argv[1]: how it ends. argv[2]: the µs between two launches of a thread. Prints, at that moment, how
// many launches have returned and CLOCK_MONOTONIC in ns. Recorded only: the number of bursts is in the log.
#include "preload/format/block.h"
#include "preload/format/loss_counters.h"
#include "tests/sim/sim_program.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

using namespace sim_program;

namespace {

std::atomic<unsigned long> launched{0};
unsigned pause_us = 100;

void launch_on(CUfunction function, CUstream stream) {
  const CUresult result = launch(function, stream);
  while (result == CUDA_ERROR_DEINITIALIZED) pause();  // the process exits
  check(result, "launch");
  launched.fetch_add(1);
  usleep(pause_us);
}

uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t bursts() {
  static int file = -1;
  if (file < 0) {
    for (const auto& entry : std::filesystem::directory_iterator(getenv("PROF_OUTPUT"))) {
      if (entry.path().extension() == ".plog") file = open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    }
  }
  prof::format::CounterPage page{};
  if (file < 0 || pread(file, &page, sizeof page, prof::format::kCounterPageOffset) != sizeof page) return 0;
  return page.counter[static_cast<size_t>(prof::format::LossCounter::budget_bursts)];
}

void say() {
  char text[64];
  const int size = snprintf(text, sizeof text, "%lu %lu\n", launched.load(), static_cast<unsigned long>(now_ns()));
  if (write(STDOUT_FILENO, text, static_cast<size_t>(size)) < 0) _exit(98);
}

}  // namespace

int main(int, char** argv) {
  const std::string_view how = argv[1];
  pause_us = static_cast<unsigned>(atoi(argv[2]));
  const CUcontext context = make_context();
  const CUfunction function = kernel("small");
  const CUstream stream = make_stream();
  std::thread([=] {
    SIM_CHECK(cuCtxSetCurrent(context));
    const CUstream own = make_stream();
    for (;;) launch_on(function, own);
  }).detach();
  const uint64_t give_up = now_ns() + 20'000'000'000;
  while (bursts() < 2 && now_ns() < give_up) launch_on(function, stream);
  const uint64_t end = now_ns() + static_cast<uint64_t>(atoi(argv[3])) * 1'000'000;
  while (now_ns() < end) launch_on(function, stream);
  if (how == "thread") {
    std::thread([] {
      say();
      exit(7);
    }).detach();
    for (;;) launch_on(function, stream);
  }
  say();
  if (how == "_exit") _exit(7);
  if (how == "quick_exit") quick_exit(7);
  if (how == "term") raise(SIGTERM);
  return 7;
}
