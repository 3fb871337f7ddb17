// The clock of slow_start.cpp: its first answer takes 60 ms.
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

static std::atomic<int> g_readings{0};

extern "C" __attribute__((visibility("default"))) bool clock_is_being_read() { return g_readings != 0; }

extern "C" __attribute__((visibility("default"))) uint64_t slow_clock() {
  if (g_readings++ == 0) usleep(60'000);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}
