// Between which limits is the difference of two clocks? The difference is a straight line over time: an offset and a
// drift. Each observation bounds it from below, from above or both at one moment. All lines that meet all observations
// form a convex polygon in the plane (difference at the first moment, difference at the last). Its extents are the
// limits, so the error of any line is bounded without an assumption about the distribution of delays.
//
// Method: A. Duda, G. Harrus, Y. Haddad, G. Bernard, "Estimating global time in distributed systems", ICDCS 1987
// (convex hull of one-way messages); S. B. Moon, P. Skelly, D. Towsley, "Estimation and removal of clock skew from
// network delay measurements", INFOCOM 1999 (the same as a linear programme).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace prof::analyzer {

inline constexpr int64_t kNoLowLimit = INT64_MIN, kNoHighLimit = INT64_MAX;

struct ClockObservation {
  int64_t at_ns = 0;                                     // on the clock that is measured
  int64_t low_ns = kNoLowLimit, high_ns = kNoHighLimit;  // what it is ahead then
};

struct ClockLimits {
  int64_t first_ns = 0, last_ns = 0;     // the moments; last_ns is later
  int64_t base_ns = 0;                   // added to the four limits: they stay exact in a double
  double first_low = 0, first_high = 0;  // at first_ns, in ns
  double last_low = 0, last_high = 0;    // at last_ns
  double drift_low = 0, drift_high = 0;  // ns per ns
};

enum class ClockFit : uint8_t { Bounded, Unbounded, Contradictory };

// Bounded: `limits` are filled. Unbounded: the observations have no lower or no upper limit. Contradictory: no line of
// a drift of at most kMostClockDrift meets all of them to a nanosecond. O(observations).
ClockFit fit_clock(std::span<const ClockObservation> observations, ClockLimits& limits);

}  // namespace prof::analyzer
