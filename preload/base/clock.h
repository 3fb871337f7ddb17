// The log's clock: raw TSC ticks where the TSC is constant and runs always (7.6 ns a reading), else CLOCK_MONOTONIC in ns
// (17 ns), or a function that the program exports (PROF_CLOCK, for simulators). Read by every hook.
#pragma once

#include "preload/base/every_launch.h"
#include "preload/base/options.h"
#include "preload/format/block.h"

#include <atomic>
#include <cstdint>
#include <ctime>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace prof::preload {

struct Clock {
  uint64_t (*read)() = nullptr;  // used where ticks are not the TSC's; set before the first record
  format::ClockSource source = format::ClockSource::Monotonic;
  uint64_t ticks_per_second = 1'000'000'000;
  // GPU clock (gpu_definitions.h: GpuClock): ns = base_ns + ((tick − base_tick) × multiplier >> shift)
  uint64_t base_tick = 0, base_ns = 0, multiplier = 1, shift = 0;
};

extern Clock g_clock;

// Chooses the clock once per process: `choice` is PROF_CLOCK. Takes up to 10 ms to measure the TSC's rate unless CPUID tells it. False:
// the program exports no function of that name; the clock is the one of "auto".
bool start_clock(const option::OneOf<option::Clock>& choice);

inline uint64_t now_ticks() {
#if defined(__x86_64__)
  if (g_every_launch.tsc.load(std::memory_order_relaxed)) [[likely]]
    return __rdtsc();
#endif
  return g_clock.read();
}

// How long so many ticks are, as far as the first estimate of their rate goes.
inline uint64_t ns_of(uint64_t ticks) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(ticks) * 1'000'000'000 / g_clock.ticks_per_second);
}

// CUPTI's timestamp: nanoseconds of the same clock.
uint64_t gpu_clock_ns();

struct ClockReading {
  uint64_t tick, monotonic_ns, realtime_ns;
};
ClockReading read_clocks();  // the three clocks within one bracket of a few hundred ns at most

// For waits and limits of our own, which are no matter of the log.
uint64_t monotonic_ns();
timespec timespec_of(uint64_t ns);
void sleep_ns(uint64_t ns);  // no cancellation point

}  // namespace prof::preload
