// What time is it on the log's clock? Every hook reads it. The clock is one of three:
// ticks of the processor's counter, if it has a constant rate and runs always: the TSC (7.6 ns per reading), or
// cntvct_el0 of aarch64;
// CLOCK_MONOTONIC in ns otherwise (17 ns per reading);
// a function that the program exports (PROF_CLOCK, for simulators).
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
  uint64_t (*read)() = nullptr;  // used if ticks are not the counter's; set before the first record
  format::ClockSource source = format::ClockSource::Monotonic;
  uint64_t ticks_per_second = 1'000'000'000;
  // GPU clock (gpu_definitions.h: GpuClock): ns = base_ns + ((tick − base_tick) × multiplier >> shift)
  uint64_t base_tick = 0, base_ns = 0, multiplier = 1, shift = 0;
};

extern Clock g_clock;

// The library is loaded: the measurement of the TSC's rate begins here, so that the start of a recording need not wait.
void note_clocks_at_load();

// Chooses the clock once per process: `choice` is PROF_CLOCK. Returns false if the program exports no function of that
// name; the clock is then the one of "auto". The rate of the TSC is that of the time since note_clocks_at_load(). If
// that time is short, the rate is provisional (settle_clock()).
bool start_clock(const option::OneOf<option::Clock>& choice);

// Makes the rate of the TSC final before the first GPU time: CUPTI's clock must not change afterwards. Waits until 5 ms
// have passed since the library was loaded. Only the thread that opens CUPTI calls it. Later calls do nothing.
void settle_clock();
bool clock_is_settled();
// The rate of the ticks with an error of about 10 ppm. 0: the library was loaded less than 5 ms ago.
uint64_t exact_ticks_per_second();

inline uint64_t read_counter() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}

inline uint64_t now_ticks() {
  if (g_every_launch.tsc.load(std::memory_order_relaxed)) [[likely]]
    return read_counter();
  return g_clock.read();
}

// The duration of `ticks` in ns, by the first estimate of the tick rate.
inline uint64_t ns_of(uint64_t ticks) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(ticks) * 1'000'000'000 / g_clock.ticks_per_second);
}

// Clock `id` of the kernel in ns. It is read through the vDSO or by a system call, never through libc, because the
// program may replace libc's clocks by its own (libfaketime): frozen, scaled or stepping.
uint64_t kernel_clock_ns(clockid_t id);

// The timestamp that CUPTI uses: nanoseconds of the same clock.
uint64_t gpu_clock_ns();

struct ClockReading {
  uint64_t tick, monotonic_ns, realtime_ns;
};
// Whether a clock stepped between two readings of one recording.
struct ClockSteps {
  // The log's clock or CLOCK_MONOTONIC was earlier than before, or the TSC did not count 10 ms or more of the time
  // between.
  bool log = false;
  bool realtime = false;  // CLOCK_REALTIME was set: it moved by at least 0.1 s more or less than CLOCK_MONOTONIC
};
ClockSteps clock_steps(const ClockReading& earlier, const ClockReading& later);
ClockReading read_clocks();  // the three clocks, read within a few hundred ns at most

// For the recorder's own waits and limits. The log does not contain these times.
uint64_t monotonic_ns();
timespec timespec_of(uint64_t ns);
void sleep_ns(uint64_t ns);  // no cancellation point

}  // namespace prof::preload
