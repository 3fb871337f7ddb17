// See clock_fit.h.
#include "analyzer/analysis/collectives/clock_fit.h"

#include "analyzer/model/host_clock.h"

#include <algorithm>
#include <vector>

namespace prof::analyzer {

namespace {

struct Point {
  double first = 0, last = 0;  // the difference at the first and the last moment
};

// Times are whole nanoseconds, rounded by those who recorded them.
constexpr double kRounding = 1;
constexpr int64_t kShortest = 1'000'000;  // between the two moments: a drift needs a distance

// Keeps the part of a convex polygon in which a * first + b * last <= most.
void cut(std::vector<Point>& polygon, double a, double b, double most, std::vector<Point>& kept) {
  kept.clear();
  const auto excess = [&](const Point& point) { return a * point.first + b * point.last - most; };
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Point &from = polygon[i], &to = polygon[i + 1 == polygon.size() ? 0 : i + 1];
    const double before = excess(from), after = excess(to);
    if (before <= 0) kept.push_back(from);
    if ((before < 0 && after > 0) || (before > 0 && after < 0)) {
      const double share = before / (before - after);
      kept.push_back({from.first + share * (to.first - from.first), from.last + share * (to.last - from.last)});
    }
  }
  polygon.swap(kept);
}

}  // namespace

ClockFit fit_clock(std::span<const ClockObservation> observations, ClockLimits& limits) {
  int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, low_ns = kNoLowLimit, high_ns = kNoHighLimit;
  for (const ClockObservation& each : observations) {
    first_ns = std::min(first_ns, each.at_ns);
    last_ns = std::max(last_ns, each.at_ns);
    low_ns = std::max(low_ns, each.low_ns);
    high_ns = std::min(high_ns, each.high_ns);
  }
  if (low_ns == kNoLowLimit || high_ns == kNoHighLimit) return ClockFit::Unbounded;
  last_ns = std::max(last_ns, first_ns + kShortest);
  const double length = static_cast<double>(last_ns - first_ns), drifted = kMostClockDrift * length;
  const auto from_base = [low_ns](int64_t ns) { return static_cast<double>(ns - low_ns); };
  const double least = -drifted - kRounding, most = from_base(high_ns) + drifted + kRounding;
  if (most < least) return ClockFit::Contradictory;
  std::vector<Point> polygon{{least, least}, {most, least}, {most, most}, {least, most}}, kept;
  cut(polygon, -1, 1, drifted, kept);
  cut(polygon, 1, -1, drifted, kept);
  for (const ClockObservation& each : observations) {
    const double share = static_cast<double>(each.at_ns - first_ns) / length;
    if (each.high_ns != kNoHighLimit) cut(polygon, 1 - share, share, from_base(each.high_ns) + kRounding, kept);
    if (each.low_ns != kNoLowLimit) cut(polygon, share - 1, -share, kRounding - from_base(each.low_ns), kept);
    if (polygon.empty()) return ClockFit::Contradictory;
  }
  limits = {first_ns, last_ns, low_ns, most, least, most, least, kMostClockDrift, -kMostClockDrift};
  for (const Point& point : polygon) {
    limits.first_low = std::min(limits.first_low, point.first);
    limits.first_high = std::max(limits.first_high, point.first);
    limits.last_low = std::min(limits.last_low, point.last);
    limits.last_high = std::max(limits.last_high, point.last);
    limits.drift_low = std::min(limits.drift_low, (point.last - point.first) / length);
    limits.drift_high = std::max(limits.drift_high, (point.last - point.first) / length);
  }
  return ClockFit::Bounded;
}

}  // namespace prof::analyzer
