// See log_clock.h.
#include "analyzer/input/log/log_clock.h"

#include <algorithm>
#include <bit>

namespace prof::analyzer {

namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kSecond = 1'000'000'000;
constexpr Int128 kMaxPoint = static_cast<Int128>(UINT64_MAX) << 16;

uint64_t floor_units(Int128 x) { return static_cast<uint64_t>(x >> 16); }

}  // namespace

// multiplier / 2^shift = dy / dx with 46 significant bits: the error is below 1 ns in 19 hours.
void PiecewiseMap::set_rate(Segment& segment, Int128 dx, uint64_t dy) {
  const auto divisor = static_cast<Uint128>(dx);
  const auto rate = [&](uint32_t shift) { return (static_cast<Uint128>(dy) << shift) / divisor; };
  uint32_t shift = 0;
  while (shift + 1 + static_cast<uint32_t>(std::bit_width(dy)) <= 127 && rate(shift + 1) < (Uint128{1} << 46)) ++shift;
  segment.shift = shift;
  segment.multiplier = static_cast<uint64_t>(std::min<Uint128>(rate(shift), (Uint128{1} << 46) - 1));
}

// The fast path is exact if nothing overflows: product < 2^109, so the number added to y is < 2^62.
void PiecewiseMap::add_segment(Segment segment) {
  segment.fast_from = floor_units(segment.x) + (segment.x & 0xffff ? 1 : 0);
  if (segment.shift >= 47 && segment.y < uint64_t{1} << 63) segment.fast_span = uint64_t{1} << 46;
  segments_.push_back(segment);
}

void PiecewiseMap::build(std::vector<Point> points, Int128 dx, uint64_t dy) {
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  std::vector<Point> kept;
  for (const Point& point : points) {
    const bool grows = kept.empty() || (point.x > kept.back().x && point.y > kept.back().y);
    if (point.x >= 0 && point.x <= kMaxPoint && point.y <= kLatestNs && grows) kept.push_back(point);
  }
  left_out_ = points.size() - kept.size();
  if (kept.empty()) kept.push_back({});
  if (dx <= 0 || dy == 0) {
    dx = static_cast<Int128>(kSecond) << 16;
    dy = kSecond;
  }

  // Rates beyond the ends are those of the nearest 100 ms, or of the whole map if it is shorter. Below 1 ms two clock
  // readings are too inexact.
  const auto rate_between = [&](const Point& a, const Point& b, Segment& segment) {
    if (b.y - a.y >= kMillisecond) {
      set_rate(segment, b.x - a.x, b.y - a.y);
    } else {
      set_rate(segment, dx, dy);
    }
  };
  const Point& first = kept.front();
  const Point& last = kept.back();
  const auto near_first =
      std::find_if(kept.begin(), kept.end(), [&](const Point& p) { return p.y - first.y >= 100 * kMillisecond; });
  const auto near_last =
      std::find_if(kept.rbegin(), kept.rend(), [&](const Point& p) { return last.y - p.y >= 100 * kMillisecond; });

  segments_.clear();
  Segment before;
  before.to = floor_units(first.x) + (first.x & 0xffff ? 1 : 0);
  before.x = first.x;
  before.y = first.y;
  before.high = first.y;
  rate_between(first, near_first == kept.end() ? last : *near_first, before);
  add_segment(before);
  for (size_t i = 0; i + 1 < kept.size(); ++i) {
    Segment segment;
    segment.x = kept[i].x;
    segment.y = kept[i].y;
    segment.low = kept[i].y;
    segment.high = kept[i + 1].y;
    segment.from = segments_.back().to;
    segment.to = floor_units(kept[i + 1].x) + (kept[i + 1].x & 0xffff ? 1 : 0);
    set_rate(segment, kept[i + 1].x - kept[i].x, kept[i + 1].y - kept[i].y);
    add_segment(segment);
  }
  Segment after;
  after.from = segments_.back().to;
  after.x = last.x;
  after.y = last.y;
  after.low = last.y;
  rate_between(near_last == kept.rend() ? first : *near_last, last, after);
  add_segment(after);
}

uint32_t PiecewiseMap::find(uint64_t x) const {
  const auto above = std::upper_bound(segments_.begin() + 1, segments_.end(), x,
                                      [](uint64_t value, const Segment& segment) { return value < segment.from; });
  return static_cast<uint32_t>(above - segments_.begin()) - 1;
}

LogClock::LogClock(const format::FileHeader& header, const std::vector<format::ClockAnchor>& anchors,
                   const std::optional<format::GpuClock>& gpu_clock) {
  // A clock of nanoseconds is the timeline itself.
  const bool is_ns = header.clock != format::ClockSource::Tsc;
  const uint64_t ticks_per_second = is_ns || header.ticks_per_second == 0 ? kSecond : header.ticks_per_second;
  std::vector<PiecewiseMap::Point> points;
  const auto add = [&](uint64_t tick, uint64_t ns) {
    points.push_back({static_cast<Int128>(tick) << 16, is_ns ? tick : ns});
  };
  add(header.start_tick, header.start_monotonic_ns);
  if (!is_ns) {
    for (const format::ClockAnchor& anchor : anchors) add(anchor.tick, anchor.monotonic_ns);
  }
  ticks_.build(points, static_cast<Int128>(ticks_per_second) << 16, kSecond);
  const uint64_t realtime_ns = std::min<uint64_t>(header.start_realtime_ns, INT64_MAX / 2);  // the year 2116
  realtime_offset_ns_ = static_cast<int64_t>(realtime_ns) - static_cast<int64_t>(ns(header.start_tick));

  gpu_clock_known_ = gpu_clock && gpu_clock->multiplier != 0 && gpu_clock->shift <= 100;
  if (!gpu_clock_known_) {
    const uint64_t realtime = is_ns && !gpu_clock ? header.start_tick : header.start_realtime_ns;
    gpu_.build({{static_cast<Int128>(realtime) << 16, ns(header.start_tick)}}, static_cast<Int128>(kSecond) << 16,
               kSecond);
    gpu_clock_known_ = is_ns && !gpu_clock;  // the same clock
    return;
  }
  // Both maps are linear between anchors, so they are joined at the CUPTI times of the anchors' ticks.
  const auto cupti_span = [&](Int128 ticks) -> Int128 {                    // in 1/65536 ns
    if (ticks > Int128{1} << 62 || ticks < -(Int128{1} << 62)) return -1;  // no real log: the point is left out below
    const Int128 product = ticks * static_cast<Int128>(gpu_clock->multiplier);
    if (gpu_clock->shift >= 16) return product >> (gpu_clock->shift - 16);
    constexpr Int128 kMost = Int128{1} << 110;
    return product > kMost || product < -kMost ? -1 : product * (Int128{1} << (16 - gpu_clock->shift));
  };
  const auto cupti_at = [&](Int128 tick_fp) {
    return (static_cast<Int128>(gpu_clock->base_ns) << 16) +
           cupti_span((tick_fp >> 16) - static_cast<Int128>(gpu_clock->base_tick));
  };
  for (PiecewiseMap::Point& point : points) point.x = cupti_at(point.x);
  gpu_.build(points, cupti_span(static_cast<Int128>(ticks_per_second)), kSecond);
}

}  // namespace prof::analyzer
