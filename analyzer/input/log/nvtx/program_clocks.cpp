// See program_clocks.h.
#include "analyzer/input/log/nvtx/program_clocks.h"

#include "preload/format/nvtx_types.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace prof::analyzer {

namespace {

using format::StampClock;
using Wide = WideNs;

constexpr int64_t kRealtimeSecond = 1'000'000'000;
constexpr uint64_t kStartUnixEpoch = 3;  // NVTX_TIMER_START_UNIX_EPOCH

bool fits(Wide number) { return number <= INT64_MAX && number >= INT64_MIN; }

// Simultaneous readings of a clock and its partner. `rate`: units of the partner per unit of the clock, 0: unknown.
struct Agreement {
  int64_t own = 0, partner = 0;
  double rate = 0;
};

using Lines = std::map<StampClock, std::shared_ptr<const ClockLine>>;

// Finds the lines of all clocks that can be reached through points.
class Solver {
 public:
  Solver(const std::vector<format::NvtxClockDef>& clocks, const std::vector<format::NvtxSyncPoint>& points,
         const ProgramClocks::KnownNs& known, Lines& to)
      : known_(known), lines_(to) {
    for (const format::NvtxClockDef& clock : clocks) defined_.try_emplace(clock.id, clock);
    for (const format::NvtxSyncPoint& point : points) {
      const auto source = static_cast<int64_t>(point.source), destination = static_cast<int64_t>(point.destination);
      const double told = std::bit_cast<double>(point.slope);
      const double rate = std::isnormal(told) && told > 0 ? told : 0;
      agreements_[point.clock][point.other].push_back({source, destination, rate});
      agreements_[point.other][point.clock].push_back({destination, source, rate != 0 ? 1 / rate : 0});
    }
  }

  void run(int64_t realtime_ns) {
    std::vector<StampClock> frontier = {StampClock::Tick, StampClock::Realtime, StampClock::Monotonic};
    spread(std::move(frontier));
    frontier.clear();
    for (const auto& [id, clock] : defined_) {
      if (clock.start != kStartUnixEpoch || clock.resolution == 0 || lines_.contains(id)) continue;
      const Wide ticks = Wide{realtime_ns} * static_cast<Wide>(clock.resolution) / kRealtimeSecond;
      const std::optional<int64_t> at_ns = known_(StampClock::Realtime, realtime_ns);
      if (!at_ns || !fits(ticks)) continue;
      std::vector<ClockLine::Point> points = {{static_cast<int64_t>(ticks), *at_ns}};
      add_by_resolution(id, points);
      if (keep(id, std::move(points))) frontier.push_back(id);
    }
    spread(std::move(frontier));
    // A time domain whose type has a known line.
    std::map<uint64_t, std::shared_ptr<const ClockLine>> of_types;
    for (const auto& [id, clock] : defined_) {
      if (clock.number >= format::nvtx::kFirstSchema) continue;
      if (const auto line = lines_.find(id); line != lines_.end()) of_types.try_emplace(clock.number, line->second);
    }
    frontier.clear();
    for (const auto& [id, clock] : defined_) {
      if (clock.number < format::nvtx::kFirstSchema || clock.type == 0) continue;
      const auto line = of_types.find(clock.type);
      if (line != of_types.end() && lines_.emplace(id, line->second).second) frontier.push_back(id);
    }
    spread(std::move(frontier));
  }

 private:
  std::optional<int64_t> ns(StampClock clock, Wide at) const {
    if (!fits(at)) return std::nullopt;
    if (clock < StampClock::kFirstProgramClock) {
      const std::optional<int64_t> known = known_(clock, static_cast<int64_t>(at));
      return known ? near_ns(*known) : std::nullopt;
    }
    const auto line = lines_.find(clock);
    return line == lines_.end() ? std::nullopt : line->second->ns(static_cast<int64_t>(at));
  }

  // Tries each clock with the partners found last, the one with the most points first.
  void spread(std::vector<StampClock> frontier) {
    while (!frontier.empty()) {
      std::map<StampClock, std::vector<std::pair<size_t, StampClock>>> candidates;  // number of points, partner
      for (const StampClock partner : frontier) {
        const auto known = agreements_.find(partner);
        if (known == agreements_.end()) continue;
        for (const auto& [clock, agreements] : known->second) {
          if (clock >= StampClock::kFirstProgramClock && !lines_.contains(clock))
            candidates[clock].emplace_back(agreements.size(), partner);
        }
      }
      std::vector<StampClock> found;
      for (auto& [clock, partners] : candidates) {
        std::stable_sort(partners.begin(), partners.end(),
                         [](const auto& a, const auto& b) { return a.first > b.first; });
        const bool solved = std::any_of(partners.begin(), partners.end(), [&, at = clock](const auto& partner) {
          return keep(at, points_of(at, partner.second, agreements_.at(at).at(partner.second)));
        });
        if (solved) found.push_back(clock);
      }
      frontier = std::move(found);
    }
  }

  bool keep(StampClock clock, std::vector<ClockLine::Point> points) {
    auto line = std::make_shared<const ClockLine>(std::move(points));
    return line->is_line() && lines_.emplace(clock, std::move(line)).second;
  }

  std::vector<ClockLine::Point> points_of(StampClock clock, StampClock partner, std::vector<Agreement> agreements) {
    std::stable_sort(agreements.begin(), agreements.end(),
                     [](const Agreement& a, const Agreement& b) { return a.own < b.own; });
    std::vector<ClockLine::Point> points;
    add_beyond(agreements.front(), partner, -1, points);
    for (const Agreement& each : agreements) {
      if (const std::optional<int64_t> at_ns = ns(partner, each.partner)) points.push_back({each.own, *at_ns});
    }
    add_beyond(agreements.back(), partner, 1, points);
    add_by_resolution(clock, points);
    return points;
  }

  // Converts a rate to a second point 2^40 units of the partner away (18 minutes of ns). At this distance, rounding to
  // integer units changes the rate by less than 1e-12. Adds nothing if that is beyond the representable times.
  void add_beyond(const Agreement& from, StampClock partner, int side, std::vector<ClockLine::Point>& points) const {
    if (from.rate == 0) return;
    const auto own = static_cast<int64_t>(std::clamp(0x1p40 / from.rate, 1.0, 0x1p60));
    const double moved = static_cast<double>(own) * from.rate;
    const Wide x = Wide{from.own} + side * Wide{own};
    if (!(moved < 0x1p62) || !fits(x)) return;
    const std::optional<int64_t> at_ns = ns(partner, Wide{from.partner} + side * Wide{std::llround(moved)});
    if (at_ns) points.push_back({static_cast<int64_t>(x), *at_ns});
  }

  // For a clock with one point: adds a point 1,000 seconds later by its resolution.
  void add_by_resolution(StampClock clock, std::vector<ClockLine::Point>& points) const {
    const auto defined = defined_.find(clock);
    const bool one = !points.empty() && std::all_of(points.begin(), points.end(), [&](const ClockLine::Point& point) {
      return point.x == points[0].x;
    });
    if (!one || defined == defined_.end() || defined->second.resolution == 0) return;
    constexpr int64_t kSeconds = 1000;
    const Wide x = points[0].x + static_cast<Wide>(defined->second.resolution) * kSeconds;
    if (fits(x)) points.push_back({static_cast<int64_t>(x), points[0].y_ns + kSeconds * kRealtimeSecond});
  }

  const ProgramClocks::KnownNs& known_;
  Lines& lines_;
  std::map<StampClock, format::NvtxClockDef> defined_;
  std::map<StampClock, std::map<StampClock, std::vector<Agreement>>> agreements_;  // by clock and partner
};

}  // namespace

std::optional<int64_t> near_ns(WideNs ns) {
  constexpr int64_t kFarNs = int64_t{1} << 60;
  return ns > kFarNs || ns < -kFarNs ? std::nullopt : std::optional(static_cast<int64_t>(ns));
}

ClockLine::ClockLine(std::vector<Point> points) {
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  for (const Point& point : points) {
    if (!near_ns(point.y_ns)) continue;
    if (points_.empty() || (point.x > points_.back().x && point.y_ns > points_.back().y_ns)) points_.push_back(point);
  }
}

std::optional<int64_t> ClockLine::ns(int64_t x) const {
  if (!is_line()) return std::nullopt;
  const auto after =
      std::upper_bound(points_.begin(), points_.end(), x, [](int64_t at, const Point& point) { return at < point.x; });
  // Beyond an end the rate is that of ten seconds there. If only the last two points were used, which may be 10 ms
  // apart, half a millisecond's error would be 5 %.
  constexpr int64_t kBase = 10 * kRealtimeSecond;
  size_t from = 0, to = 0;
  if (after == points_.begin()) {
    for (to = 1; to + 1 < points_.size() && points_[to + 1].y_ns - points_[0].y_ns <= kBase;) ++to;
  } else if (after == points_.end()) {
    to = points_.size() - 1;
    for (from = to - 1; from > 0 && points_[to].y_ns - points_[from - 1].y_ns <= kBase;) --from;
  } else {
    to = static_cast<size_t>(after - points_.begin());
    from = to - 1;
  }
  const Point& anchor = points_[after == points_.end() ? to : from];
  // x − x0| < 2^64 and y1 − y0 ≤ 2^61: the product fits 128 bits.
  return near_ns(Wide{anchor.y_ns} + (Wide{x} - anchor.x) * (Wide{points_[to].y_ns} - points_[from].y_ns) /
                                         (Wide{points_[to].x} - points_[from].x));
}

ProgramClocks::ProgramClocks(const std::vector<format::NvtxClockDef>& clocks,
                             const std::vector<format::NvtxSyncPoint>& points, int64_t realtime_ns,
                             const KnownNs& known) {
  Solver(clocks, points, known, lines_).run(realtime_ns);
}

std::optional<int64_t> ProgramClocks::ns(StampClock clock, int64_t stamp) const {
  const auto line = lines_.find(clock);
  return line == lines_.end() ? std::nullopt : line->second->ns(stamp);
}

}  // namespace prof::analyzer
