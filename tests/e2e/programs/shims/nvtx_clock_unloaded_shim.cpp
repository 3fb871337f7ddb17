// A clock in a library that is loaded and unloaded (nvtx_clock_unloaded.cpp): CLOCK_MONOTONIC, late by 77.
#include <time.h>

#include <cstdint>

extern "C" __attribute__((visibility("default"))) int64_t read_clock() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec - 77;
}
