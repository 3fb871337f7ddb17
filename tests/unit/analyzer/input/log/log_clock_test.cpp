// The log's clock: exact at anchors, monotonic everywhere, within 1 ns of the exact rational map, inverse of CUPTI's
// clock.
#include "analyzer/input/log/log_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace prof::tests {
namespace {

using namespace analyzer;

format::FileHeader tsc_header(uint64_t tick, uint64_t ns, uint64_t ticks_per_second) {
  format::FileHeader header{};
  header.clock = format::ClockSource::Tsc;
  header.start_tick = tick;
  header.start_monotonic_ns = ns;
  header.start_realtime_ns = ns + 1'700'000'000'000'000'000;
  header.ticks_per_second = ticks_per_second;
  return header;
}

// Anchors about a second apart, for a clock whose rate varies by some ppm.
std::vector<format::ClockAnchor> wandering(std::mt19937_64& random, const format::FileHeader& header, size_t count) {
  std::vector<format::ClockAnchor> anchors;
  uint64_t tick = header.start_tick;
  uint64_t ns = header.start_monotonic_ns;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t step_ns = 900'000'000 + random() % 200'000'000;
    const auto exact = static_cast<Uint128>(step_ns) * header.ticks_per_second / 1'000'000'000;
    tick += static_cast<uint64_t>(exact) + random() % 20'000;
    ns += step_ns;
    anchors.push_back({tick, ns, ns + 1'700'000'000'000'000'000});
  }
  return anchors;
}

TEST(LogClock, IsExactAtItsAnchors) {
  std::mt19937_64 random(1);
  const format::FileHeader header = tsc_header(987'654'321'000, 555'000'000'000, 2'899'886'000);
  const auto anchors = wandering(random, header, 50);
  const LogClock clock(header, anchors, std::nullopt);
  EXPECT_EQ(clock.ns(header.start_tick), header.start_monotonic_ns);
  for (const auto& anchor : anchors) EXPECT_EQ(clock.ns(anchor.tick), anchor.monotonic_ns);
  EXPECT_EQ(clock.realtime_offset_ns(), 1'700'000'000'000'000'000);
  EXPECT_EQ(clock.anchors_left_out(), 0u);
}

TEST(LogClock, StaysWithinOneNanosecondOfTheExactLineBetweenAnchors) {
  std::mt19937_64 random(2);
  for (const uint64_t rate : {2'899'886'000ull, 25'000'000ull, 1'000'000'000ull, 24'576'000'000ull}) {
    const format::FileHeader header = tsc_header(1ull << 50, 1ull << 45, rate);
    const auto anchors = wandering(random, header, 20);
    const LogClock clock(header, anchors, std::nullopt);
    for (int i = 0; i < 20000; ++i) {
      const size_t k = random() % (anchors.size() - 1);
      const auto& a = anchors[k];
      const auto& b = anchors[k + 1];
      const uint64_t tick = a.tick + random() % (b.tick - a.tick);
      const auto exact =
          a.monotonic_ns + static_cast<Uint128>(tick - a.tick) * (b.monotonic_ns - a.monotonic_ns) / (b.tick - a.tick);
      const auto got = clock.ns(tick);
      ASSERT_LE(got, static_cast<uint64_t>(exact));
      ASSERT_GE(got + 1, static_cast<uint64_t>(exact));
    }
  }
}

TEST(LogClock, NeverGoesBackwardsWithAnyHint) {
  std::mt19937_64 random(3);
  for (const uint64_t rate : {2'899'886'000ull, 25'000'000ull}) {
    const format::FileHeader header = tsc_header(5'000'000'000'000, 7'000'000'000'000, rate);
    const auto anchors = wandering(random, header, 30);
    const format::GpuClock gpu{anchors[3].tick, anchors[3].monotonic_ns, (1'000'000'000ull << 24) / (rate >> 8), 32};
    const LogClock clock(header, anchors, gpu);
    std::vector<uint64_t> ticks;
    for (int i = 0; i < 20000; ++i) ticks.push_back(header.start_tick - rate + random() % (32 * rate));
    for (const auto& anchor : anchors) ticks.insert(ticks.end(), {anchor.tick - 1, anchor.tick, anchor.tick + 1});
    std::sort(ticks.begin(), ticks.end());
    uint64_t last = 0;
    uint64_t last_gpu = 0;
    LogClock::Hint hint = 0;
    for (const uint64_t tick : ticks) {
      const uint64_t ns = clock.ns(tick, hint);
      ASSERT_GE(ns, last);
      ASSERT_EQ(ns, clock.ns(tick));
      LogClock::Hint any = static_cast<uint32_t>(random() % 64);
      ASSERT_EQ(ns, clock.ns(tick, any));
      last = ns;
      const uint64_t gpu_ns = clock.gpu_ns(ns);
      ASSERT_GE(gpu_ns, last_gpu);
      last_gpu = gpu_ns;
    }
  }
}

TEST(LogClock, GpuTimesComeBackToTheHostTimeOfTheirTick) {
  std::mt19937_64 random(4);
  for (const uint64_t rate : {2'899'886'000ull, 3'600'000'123ull, 25'000'000ull, 1'000'000'000ull}) {
    const format::FileHeader header = tsc_header(77'000'000'000'000, 33'000'000'000'000, rate);
    const auto anchors = wandering(random, header, 20);
    // The rate is only an estimate: it drifts against the anchors, which must not matter.
    format::GpuClock gpu{header.start_tick + 12345, header.start_monotonic_ns + 999, 0, 32};
    gpu.multiplier = static_cast<uint64_t>((static_cast<Uint128>(1'000'030'000) << gpu.shift) / rate);
    const LogClock clock(header, anchors, gpu);
    EXPECT_TRUE(clock.gpu_clock_known());
    for (int i = 0; i < 20000; ++i) {
      const uint64_t tick = header.start_tick + random() % (21 * rate);
      const auto ticks = static_cast<Int128>(tick) - static_cast<Int128>(gpu.base_tick);
      const auto cupti = static_cast<uint64_t>(static_cast<Int128>(gpu.base_ns) +
                                               ((ticks * static_cast<Int128>(gpu.multiplier)) >> gpu.shift));
      const uint64_t host = clock.ns(tick);
      const uint64_t back = clock.gpu_ns(cupti);
      // CUPTI's nanosecond was rounded down: up to 1 ns; each map rounds down once.
      ASSERT_NEAR(static_cast<double>(static_cast<int64_t>(back - host)), -0.5, 1.6) << rate << " tick " << tick;
    }
  }
}

TEST(LogClock, GpuNanosecondsBetweenTicksAreWithinOneNanosecondOfTheExactMap) {
  // 25 MHz: 40 ns a tick; CUPTI interpolates between ticks.
  const uint64_t rate = 25'000'000;
  const format::FileHeader header = tsc_header(1'000'000, 40'000'000, rate);
  const std::vector<format::ClockAnchor> anchors = {{26'000'000, 1'040'000'000, 0}};
  const format::GpuClock gpu{1'000'000, 7'000'000'000, 40, 0};
  const LogClock clock(header, anchors, gpu);
  for (uint64_t ns = 0; ns < 3'000'000'000; ns += 12'345'677)
    EXPECT_EQ(clock.gpu_ns(7'000'000'000 + ns), 40'000'000 + ns);
}

TEST(PiecewiseMap, EqualsItselfIn128BitsEverywhere) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 2000; ++round) {
    const auto any = [&] { return random() >> (random() % 64); };
    const bool likely = round % 2 == 0;  // a realistic clock, or arbitrary points
    std::vector<PiecewiseMap::Point> points;
    uint64_t x = any() >> (likely ? 8 : 0), y = any() >> (likely ? 8 : 0);
    for (size_t i = random() % 5 + 1; i-- > 0;) {
      points.push_back({static_cast<Int128>(x) << 16 | static_cast<Int128>(random() & 0xffff), y});
      const uint64_t step = likely ? 1'000'000 + random() % 4'000'000'000 : any();
      x += step, y += likely ? step / 3 + random() % 1000 : any();
    }
    PiecewiseMap map;
    map.build(points, static_cast<Int128>(any()) << 16, any());
    for (int i = 0; i < 200; ++i) {
      const auto& point = points[random() % points.size()];
      const auto near = static_cast<uint64_t>(point.x >> 16);
      const uint64_t at = i % 4 == 0   ? any()
                          : i % 4 == 1 ? near + random() % 4 - 2
                          : i % 4 == 2 ? near + any()
                                       : near - any();
      uint32_t hint = static_cast<uint32_t>(random() % 8);
      ASSERT_EQ(map.at(at, hint), map.at_wide(at)) << "round " << round << " at " << at;
    }
  }
}

TEST(LogClock, NanosecondClocksAreTheTimelineItself) {
  format::FileHeader header = tsc_header(1000, 2000, 0);
  header.clock = format::ClockSource::Monotonic;
  const LogClock clock(header, {{500'000'000, 700'000'000, 0}}, std::nullopt);
  for (const uint64_t t : {0ull, 1ull, 1000ull, 123'456'789'012'345ull}) {
    EXPECT_EQ(clock.ns(t), t);
    EXPECT_EQ(clock.gpu_ns(t), t);
  }
  EXPECT_TRUE(clock.gpu_clock_known());
  const LogClock with_gpu(header, {}, format::GpuClock{0, 0, 1, 0});
  EXPECT_EQ(with_gpu.gpu_ns(987'654'321), 987'654'321u);
}

TEST(LogClock, WithoutAnchorsTheHeadersRateIsUsed) {
  const LogClock clock(tsc_header(1'000'000, 50'000, 2'000'000'000), {}, std::nullopt);
  EXPECT_EQ(clock.ns(1'000'000 + 2'000'000'000), 50'000 + 1'000'000'000u);
  EXPECT_EQ(clock.ns(1'000'000 - 2'000), 49'000u);
  EXPECT_EQ(clock.ns(0), 0u) << "before boot";
  EXPECT_FALSE(clock.gpu_clock_known());
}

TEST(LogClock, TwoReadingsTooCloseTogetherDoNotMakeARate) {
  // The last anchor is 10 us after the one before it, and 5 us late.
  const format::FileHeader header = tsc_header(0, 1'000'000'000, 1'000'000'000);
  const LogClock clock(header, {{1'000'000'000, 2'000'000'000, 0}, {1'000'010'000, 2'000'015'000, 0}}, std::nullopt);
  const uint64_t later = clock.ns(2'000'000'000);
  EXPECT_NEAR(static_cast<double>(later), 3'000'000'000.0, 20'000.0);
}

TEST(LogClock, SurvivesAnchorsThatCannotBe) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 3000; ++round) {
    const auto any = [&] { return random() >> (random() % 64); };
    format::FileHeader header = tsc_header(any(), any(), any());
    std::vector<format::ClockAnchor> anchors(random() % 6);
    for (auto& anchor : anchors) anchor = {any(), any(), any()};
    const format::GpuClock gpu{any(), any(), any(), any() % 200};
    const LogClock clock(header, anchors, gpu);
    uint64_t x = any();
    const uint64_t y = clock.ns(x);
    const uint64_t z = clock.gpu_ns(x);
    x += std::min(any(), UINT64_MAX - x);
    ASSERT_GE(clock.ns(x), y);
    ASSERT_GE(clock.gpu_ns(x), z);
  }
}

}  // namespace
}  // namespace prof::tests
