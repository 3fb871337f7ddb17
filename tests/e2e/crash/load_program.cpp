// The load of crash_test.cpp: eight threads mark and launch in turn and count the calls that have returned, in a file
// that outlives the process. Usage: load_program COUNTERS END [MICROSECONDS]. END is the way in which the process ends,
// MICROSECONDS after all threads started:
//   stop (cuProfilerStop ends the recording; the threads go on, then _exit)
//   run (until killed)  oom (allocates until killed)  segv  abort  throw  _exit  quick_exit  exit  exec
#include "tests/e2e/crash/load.h"
#include "tests/sim/sim_program.h"

#include <cudaProfiler.h>
#include <nvtx3/nvToolsExt.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using prof::test::kLoadThreads;
using prof::test::Returned;

Returned* map_counters(const char* path) {
  const int fd = open(path, O_RDWR);
  void* const memory = mmap(nullptr, kLoadThreads * sizeof(Returned), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd < 0 || memory == MAP_FAILED) {
    std::perror(path);
    exit(98);
  }
  close(fd);
  return static_cast<Returned*>(memory);
}

[[noreturn]] void load(CUcontext context, uint64_t thread, Returned& returned) {
  SIM_CHECK(cuCtxSetCurrent(context));
  const CUstream stream = sim_program::make_stream();
  const CUfunction function = sim_program::kernel("load");
  nvtxEventAttributes_t mark{};
  mark.version = NVTX_VERSION;
  mark.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  mark.messageType = NVTX_MESSAGE_TYPE_ASCII;
  char text[32];
  mark.message.ascii = text;
  mark.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  for (uint64_t number = 0;; ++number) {
    // Names and launch shapes are new all the time and shared by all threads: the thread that uses one may not be the
    // one that defined it.
    const unsigned fresh = static_cast<unsigned>(number / 64 % 8192);
    if (number % 64 == 0) std::snprintf(text, sizeof text, "load %u", fresh);
    mark.payload.ullValue = prof::test::payload_of(thread, number);
    nvtxMarkEx(&mark);
    returned.marks.store(number + 1, std::memory_order_release);
    SIM_CHECK(sim_program::launch(function, stream, 1 + fresh));
    returned.launches.store(number + 1, std::memory_order_release);
    if (number % 256 == 255) SIM_CHECK(cuStreamSynchronize(stream));
  }
}

[[noreturn]] void end_by(const std::string& way, Returned* returned) {
  if (way == "stop") {
    for (unsigned t = 0; t < kLoadThreads; ++t) {
      returned[t].marks_before_stop = returned[t].marks.load();
      returned[t].launches_before_stop = returned[t].launches.load();
    }
    SIM_CHECK(cuProfilerStop());
    usleep(5000);
    _exit(9);
  }
  volatile int* volatile const nowhere = nullptr;
  if (way == "segv") *nowhere = 1;
  if (way == "abort") abort();
  if (way == "throw") throw std::runtime_error("not caught");
  if (way == "_exit") _exit(5);
  if (way == "quick_exit") quick_exit(6);
  if (way == "exit") exit(7);
  if (way == "exec") execl("/bin/sh", "sh", "-c", "exit 8", nullptr);
  while (way == "oom") {
    void* const memory = std::memset(new char[1 << 20], 1, 1 << 20);
    asm volatile("" ::"r"(memory) : "memory");  // otherwise the compiler sees that nothing reads it
  }
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 97;
  Returned* const returned = map_counters(argv[1]);
  const CUcontext context = sim_program::make_context();
  SIM_CHECK(cuProfilerStart());
  sim_program::kernel("load");  // loads the module before there are threads
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kLoadThreads; ++t) threads.emplace_back(load, context, t, std::ref(returned[t]));
  for (uint64_t t = 0; t < kLoadThreads; ++t) {
    while (returned[t].launches.load(std::memory_order_relaxed) == 0) usleep(200);
  }
  if (argc > 3) usleep(static_cast<useconds_t>(atoi(argv[3])));
  end_by(argv[2], returned);
}
