// The time of the simulated machine. It is virtual by default: it advances only with the cost of an API call, with a
// wait for the device, or with sim_advance_ns(), so a single-threaded program sees the same numbers in every run.
// SIM_CLOCK=real uses CLOCK_MONOTONIC, for benchmarks and for programs that need wall time.
#pragma once
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

namespace sim {

using Ns = uint64_t;

constexpr Ns kStartOfTime = 1'000'000'000;

// CLOCK_MONOTONIC of the machine, also if a library in the program replaces libc's clocks.
inline Ns machine_ns() {
  timespec time{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  return static_cast<Ns>(time.tv_sec) * 1'000'000'000 + static_cast<Ns>(time.tv_nsec);
}

bool clock_is_real();
Ns now_ns();
void advance_ns(Ns amount);     // does nothing if the clock is real
void advance_to_ns(Ns moment);  // sleeps if the clock is real

}  // namespace sim
