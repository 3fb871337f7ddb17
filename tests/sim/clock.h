// The simulated machine's time. Virtual by default: it moves only when an API call costs something, when somebody waits for
// the device, or by sim_advance_ns(), so a single-threaded program sees the same numbers in every run.
// SIM_CLOCK=real makes it CLOCK_MONOTONIC, for benchmarks and for programs that need wall time.
#pragma once
#include <cstdint>

namespace sim {

using Ns = uint64_t;

constexpr Ns kStartOfTime = 1'000'000'000;

bool clock_is_real();
Ns now_ns();
void advance_ns(Ns amount);     // nothing when the clock is real
void advance_to_ns(Ns moment);  // sleeps when the clock is real

}  // namespace sim
