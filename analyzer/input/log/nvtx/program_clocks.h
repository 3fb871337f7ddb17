// How are times of a program's own clock converted? NVTX's time domains are related to the log's clocks by
// synchronisation points and conversion factors of the program, or by a timer source that the recorder queried.
// Offline.
//
// A clock with two or more points is a line through them:
//
//     ns(x) = y0 + (x − x0) · (y1 − y0) / (x1 − x0)
//
// between the points on either side of x; beyond the outermost points with the line of the nearest two. (NVTX requires
// two points, and a tool that can chain conversions: nvtxTimeSyncPoint in nvToolsExtPayload.h. How to draw the line is
// left to the tool; the log's own clock is read in the same way, log_clock.h.) The partner of a point may be a clock of
// the program itself; clocks next to a clock of the log are solved first. A conversion factor is a point with the rate
// of the line beyond it. If a clock has one point and no rate, the rate is its resolution. A clock that began with the
// Unix epoch and has a resolution needs no point.
#pragma once

#include "preload/format/nvtx_definitions.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace prof::analyzer {

// A time that may be outside of int64_t.
__extension__ using WideNs = __int128;
// nullopt: more than 36 years (2^60 ns) away from 0.
std::optional<int64_t> near_ns(WideNs ns);

// Points of a clock and its line.
class ClockLine {
 public:
  struct Point {
    int64_t x = 0;     // the clock
    int64_t y_ns = 0;  // the model
  };
  // Points that, ordered by x, do not increase in both coordinates are left out.
  explicit ClockLine(std::vector<Point> points);
  bool is_line() const { return points_.size() > 1; }
  // nullopt: more than 36 years away from the model's zero.
  std::optional<int64_t> ns(int64_t x) const;
  const std::vector<Point>& points() const { return points_; }

 private:
  std::vector<Point> points_;
};

class ProgramClocks {
 public:
  // ns on the model's time line for the clocks that the log itself can convert; nullopt: not convertible.
  using KnownNs = std::function<std::optional<int64_t>(format::StampClock, int64_t)>;

  ProgramClocks() = default;
  // `realtime_ns`: any moment of CLOCK_REALTIME during the recording.
  ProgramClocks(const std::vector<format::NvtxClockDef>& clocks, const std::vector<format::NvtxSyncPoint>& points,
                int64_t realtime_ns, const KnownNs& known);

  // nullopt: this clock has no relation to the log's clocks.
  std::optional<int64_t> ns(format::StampClock clock, int64_t stamp) const;

 private:
  std::map<format::StampClock, std::shared_ptr<const ClockLine>> lines_;  // time domains of one type share a line
};

}  // namespace prof::analyzer
