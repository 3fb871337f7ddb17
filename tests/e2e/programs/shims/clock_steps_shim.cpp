// The clock of clock_steps.cpp.
#include <atomic>
#include <cstdint>
#include <ctime>

static std::atomic<uint64_t> g_back{0};

extern "C" __attribute__((visibility("default"))) uint64_t stepping_clock() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec) - g_back.load();
}

extern "C" __attribute__((visibility("default"))) void step_back(uint64_t ns) { g_back = ns; }
