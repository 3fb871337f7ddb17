// Offline. When did an event happen, in nanoseconds of CLOCK_MONOTONIC? Host records have ticks of the log's clock, GPU
// records have CUPTI nanoseconds; both become one timeline here. Integer arithmetic, monotone, results within 1 ns of
// the exact piecewise linear map through the log's clock anchors. Used by the model's builder and `prof check`.
//
//   ns
//    |            ,-'  extrapolated with the rate of the last 100 ms
//    |        ,--*     * anchors: (tick, ns), one a second
//    |    *--'
//    +------------------- tick
#pragma once

#include "preload/format/codec.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace prof::analyzer {

using Int128 = __int128;
using Uint128 = unsigned __int128;

// The latest time, 73 years since boot. Sums and differences of times of a damaged log then fit 63 bits.
inline constexpr uint64_t kLatestNs = INT64_MAX / 4;

// A monotone map through points, linear between and beyond them, with results of at most kLatestNs. x has 16 fractional
// bits.
class PiecewiseMap {
 public:
  struct Point {
    Int128 x = 0;  // in 1/65536 of a unit
    uint64_t y = 0;
  };
  // Leaves out points that do not increase in both x and y, or are too late. `dx`/`dy`: the rate if the points do not
  // determine it.
  void build(std::vector<Point> points, Int128 dx, uint64_t dy);

  // `hint` is a position that a caller keeps between calls with similar x. It must be 0 at first.
  uint64_t at(uint64_t x, uint32_t& hint) const {
    if (!(hint < segments_.size() && x >= segments_[hint].from && x < segments_[hint].to)) hint = find(x);
    return segments_[hint].at(x);
  }
  // The same with 128 bits in every step: at() must return the same result.
  uint64_t at_wide(uint64_t x) const { return segments_[find(x)].at_wide(x); }
  size_t points_left_out() const { return left_out_; }

 private:
  struct Segment {
    uint64_t from = 0, to = UINT64_MAX;  // x ∈ [from, to), whole units
    Int128 x = 0;                        // of the point from which the segment counts
    uint64_t y = 0;
    uint64_t low = 0, high = kLatestNs;  // limits of y in this segment
    uint64_t multiplier = 0;
    uint32_t shift = 0;
    // Values in [fast_from, fast_from + fast_span) need one 64-bit multiplication: 2^46 ticks after the point, 6 hours.
    uint64_t fast_from = 0, fast_span = 0;
    uint64_t at(uint64_t value) const {
      if (value - fast_from >= fast_span) [[unlikely]]
        return at_wide(value);
      const uint64_t delta = (value << 16) - static_cast<uint64_t>(x);  // < 2^63, and so the product < 2^109
      const uint64_t moved = y + static_cast<uint64_t>((static_cast<Uint128>(delta) * multiplier) >> shift);
      return moved > high ? high : moved;
    }
    uint64_t at_wide(uint64_t value) const {
      const Int128 delta = (static_cast<Int128>(value) << 16) - x;  // |delta| < 2^81, multiplier < 2^46
      const Int128 moved = static_cast<Int128>(y) + ((delta * static_cast<Int128>(multiplier)) >> shift);
      if (moved < static_cast<Int128>(low)) return low;
      if (moved > static_cast<Int128>(high)) return high;
      return static_cast<uint64_t>(moved);
    }
  };
  static void set_rate(Segment& segment, Int128 dx, uint64_t dy);
  void add_segment(Segment segment);
  uint32_t find(uint64_t x) const;

  std::vector<Segment> segments_;
  size_t left_out_ = 0;
};

class LogClock {
 public:
  // The last position of a caller; one per thread of the caller.
  using Hint = uint32_t;

  LogClock(const format::FileHeader& header, const std::vector<format::ClockAnchor>& anchors,
           const std::optional<format::GpuClock>& gpu_clock);

  // Converts ticks and CUPTI nanoseconds to monotonic ns. Times before the boot of the machine become 0.
  uint64_t ns(uint64_t tick, Hint& hint) const { return ticks_.at(tick, hint); }
  uint64_t ns(uint64_t tick) const {
    Hint hint = 0;
    return ns(tick, hint);
  }
  uint64_t gpu_ns(uint64_t cupti_ns, Hint& hint) const { return gpu_.at(cupti_ns, hint); }
  uint64_t gpu_ns(uint64_t cupti_ns) const {
    Hint hint = 0;
    return gpu_ns(cupti_ns, hint);
  }
  // The end of an operation that started at `start_ns` and had this duration on CUPTI's clock. The duration is negative
  // if the end is before the start. The result is limited to [0, kLatestNs] for any duration.
  static uint64_t gpu_end_ns(uint64_t start_ns, uint64_t duration) {
    const Int128 end = static_cast<Int128>(start_ns) + static_cast<int64_t>(duration);
    return end < 0 ? 0 : end > static_cast<Int128>(kLatestNs) ? kLatestNs : static_cast<uint64_t>(end);
  }
  // The start of a span of ticks that ended at `end`, e.g. of a call.
  uint64_t begin_ns(uint64_t end, uint64_t duration, Hint& hint) const { return ns(end - duration, hint); }

  // Realtime is ns + this offset, at the moment when the log was created.
  int64_t realtime_offset_ns() const { return realtime_offset_ns_; }
  // False: the log does not define CUPTI's nanoseconds. They are assumed to be CLOCK_REALTIME, CUPTI's default.
  bool gpu_clock_known() const { return gpu_clock_known_; }
  size_t anchors_left_out() const { return ticks_.points_left_out(); }

 private:
  PiecewiseMap ticks_, gpu_;
  int64_t realtime_offset_ns_ = 0;
  bool gpu_clock_known_ = false;
};

}  // namespace prof::analyzer
