// The records of a thread that the kernel writes into a ring: samples, and how many of them it lost.
#include "preload/host_samples/perf_thread.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <vector>

namespace prof::preload {
namespace {

uint64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void use_cpu(uint64_t ns) {
  const uint64_t end = cpu_ns() + ns;
  while (cpu_ns() < end) {}
}

TEST(PerfThread, ARingWithoutRoomLosesSamplesWhoseNumberFollows) {
  constexpr uint64_t kPeriodNs = 100'000;
  PerfThread thread;
  const int error = thread.open(static_cast<uint32_t>(syscall(SYS_gettid)), kPeriodNs);
  if (error != 0) GTEST_SKIP() << "the kernel does not allow it here: " << std::strerror(error);
  std::vector<uint8_t> room(PerfThread::kMostRecordBytes);
  std::map<PerfRecord::Kind, uint64_t> records;
  uint64_t lost = 0;
  const auto read_all = [&] {
    PerfRecord record;
    while (thread.next(room.data(), record)) {
      ++records[record.kind];
      if (record.kind == PerfRecord::Kind::Lost) {
        EXPECT_GT(record.lost, 0u);
        lost += record.lost;
      }
      record = {};
    }
  };
  // Deep enough for stacks that fill the ring after a few samples.
  volatile uint8_t stack[2 * PerfThread::kStackBytes] = {};
  use_cpu(kPeriodNs * 500);
  read_all();  // the number follows when there is room again
  for (int times = 0; times < 1000 && lost == 0; ++times) {
    use_cpu(2 * kPeriodNs);
    read_all();
  }
  thread.close();
  EXPECT_EQ(stack[0], 0);
  EXPECT_GT(records[PerfRecord::Kind::Sample], 0u);
  EXPECT_GT(lost, 0u);
}

}  // namespace
}  // namespace prof::preload
