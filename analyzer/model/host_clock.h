// Which clock recorded a process, and how far is it from that of the other hosts? Processes of one host share a clock.
// A process whose host is not known has a clock of its own. analysis/collectives/host_clocks.h estimates the clocks and
// puts the times of the model on that of one host.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace prof::analyzer {

// The kernel slews a clock by at most 500 ppm (adjtimex(2)), so two clocks drift apart by at most 1000 ppm.
inline constexpr double kMostClockDrift = 1e-3;

enum class ClockBasis : uint8_t {
  Unknown,    // nothing bounds the clock in both directions: its times are as recorded
  Reference,  // the clock of which all others are measured
  Order,      // no rank ends a collective before every rank has entered it
  Ends        // also: the ends of a collective are apart by at most its own time
};

struct HostClock {
  std::string name;  // the host; else the file of the process
  ClockBasis basis = ClockBasis::Unknown;
  uint64_t collectives = 0;        // that the estimate uses
  int64_t from_ns = 0, to_ns = 0;  // of these collectives, as recorded
  double ahead_ns = 0, drift = 0;  // what the clock is ahead of the reference at from_ns; ns per ns
  double bound_ns = 0;             // of the error of that difference from from_ns to to_ns
  double drift_bound = 0;          // how fast the bound grows outside: ns per ns
  int64_t zero_ns = 0;             // added to all times after the correction: the first one is 0

  bool known() const { return basis != ClockBasis::Unknown; }
  double ahead_at(int64_t recorded_ns) const { return ahead_ns + drift * static_cast<double>(recorded_ns - from_ns); }
  // Does not decrease: |drift| is at most kMostClockDrift.
  int64_t aligned(int64_t recorded_ns) const {
    return recorded_ns - (ahead_ns == 0 && drift == 0 ? 0 : std::llround(ahead_at(recorded_ns))) + zero_ns;
  }
  // The error of an aligned time is at most this, in ns.
  double bound_at(int64_t aligned_ns) const {
    const double after = static_cast<double>(aligned_ns - aligned(to_ns)),
                 before = static_cast<double>(aligned(from_ns) - aligned_ns);
    return bound_ns + drift_bound * std::fmax(0, std::fmax(after, before));
  }
};

}  // namespace prof::analyzer
