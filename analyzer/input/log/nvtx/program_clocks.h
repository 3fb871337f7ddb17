// When was it, by a clock of the program's own? NVTX's time domains are tied to the log's clocks by synchronisation points and conversion
// factors that the program told, or by a timer source that the recorder asked. Offline.
//
// A clock with two points or more is a line through them:
//
//     ns(x) = y0 + (x − x0) · (y1 − y0) / (x1 − x0)
//
// with the points on either side of x, beyond the outermost ones with the line of the nearest two. (NVTX asks for two points, and for a tool
// that can chain conversions: nvtxTimeSyncPoint in nvToolsExtPayload.h; how to draw the line is left to the tool. It is how the log's own
// clock is read, log_clock.h.) What a point is paired with may itself be a clock of the program's: those next to a clock of
// the log come first. A conversion factor is a point with the rate of the line beyond it; where a clock has one point and no rate, the rate is
// its resolution, and one that began with the Unix epoch and has a resolution needs no point.
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

// A time that may lie outside of int64_t.
__extension__ using WideNs = __int128;
// Nullopt: more than 36 years (2^60 ns) away from 0.
std::optional<int64_t> near_ns(WideNs ns);

// Points of a clock and its line.
class ClockLine {
 public:
  struct Point {
    int64_t x = 0;     // the clock
    int64_t y_ns = 0;  // the model
  };
  // Points that do not grow in both against the one before, by x, are left out.
  explicit ClockLine(std::vector<Point> points);
  bool is_line() const { return points_.size() > 1; }
  // Nullopt: more than 36 years away from the model's zero.
  std::optional<int64_t> ns(int64_t x) const;
  const std::vector<Point>& points() const { return points_; }

 private:
  std::vector<Point> points_;
};

class ProgramClocks {
 public:
  // ns on the model's time line of the clocks that the log itself can convert; nullopt: it cannot.
  using KnownNs = std::function<std::optional<int64_t>(format::StampClock, int64_t)>;

  ProgramClocks() = default;
  // `realtime_ns`: some moment of CLOCK_REALTIME during the recording.
  ProgramClocks(const std::vector<format::NvtxClockDef>& clocks, const std::vector<format::NvtxSyncPoint>& points,
                int64_t realtime_ns, const KnownNs& known);

  // Nullopt: nothing ties this clock to the log's.
  std::optional<int64_t> ns(format::StampClock clock, int64_t stamp) const;

 private:
  std::map<format::StampClock, std::shared_ptr<const ClockLine>> lines_;  // time domains of one type share theirs
};

}  // namespace prof::analyzer
