// Clocks defined by the program and tied to a known clock; every time was computed by hand.
#include "analyzer/input/log/nvtx/program_clocks.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace prof::analyzer {
namespace {

using format::StampClock;

constexpr auto kFirstClock = StampClock::kFirstProgramClock;
constexpr auto kSecondClock = static_cast<StampClock>(9);
constexpr auto kThird = static_cast<StampClock>(10);

// The model's time is CLOCK_MONOTONIC; other clocks of the log are unknown.
std::optional<int64_t> monotonic(StampClock clock, int64_t stamp) {
  return clock == StampClock::Monotonic ? std::optional(stamp) : std::nullopt;
}

format::NvtxClockDef clock_of(StampClock id, uint64_t number, uint64_t resolution = 0) {
  format::NvtxClockDef made;
  made.id = id;
  made.number = number;
  made.resolution = resolution;
  return made;
}
format::NvtxSyncPoint point(StampClock from, StampClock to, int64_t source, int64_t destination, double slope = 0) {
  return {
      0, from, to, static_cast<uint64_t>(source), static_cast<uint64_t>(destination), std::bit_cast<uint64_t>(slope)};
}

ProgramClocks clocks(const std::vector<format::NvtxSyncPoint>& points, uint64_t resolution = 0) {
  return {{clock_of(kFirstClock, 1 << 24, resolution), clock_of(kSecondClock, (1 << 24) + 1),
           clock_of(kThird, (1 << 24) + 2)},
          points,
          0,
          monotonic};
}

TEST(ProgramClocks, BetweenTwoPointsTimeGrowsInALine) {
  const ProgramClocks made = clocks(
      {point(kFirstClock, StampClock::Monotonic, 100, 1000), point(kFirstClock, StampClock::Monotonic, 200, 1300)});
  EXPECT_EQ(made.ns(kFirstClock, 100), 1000);
  EXPECT_EQ(made.ns(kFirstClock, 150), 1150);
  EXPECT_EQ(made.ns(kFirstClock, 200), 1300);
}

TEST(ProgramClocks, BeyondThePointsThoseOfTenSecondsSayTheRate) {
  const ProgramClocks made =
      clocks({point(kFirstClock, StampClock::Monotonic, 0, 0), point(kFirstClock, StampClock::Monotonic, 100, 100),
              point(kFirstClock, StampClock::Monotonic, 200, 400)});
  EXPECT_EQ(made.ns(kFirstClock, -50), -100);
  EXPECT_EQ(made.ns(kFirstClock, 300), 600);
  const ProgramClocks far = clocks({point(kFirstClock, StampClock::Monotonic, 0, 0),
                                    point(kFirstClock, StampClock::Monotonic, 10'000, 20'000'000'000),
                                    point(kFirstClock, StampClock::Monotonic, 10'100, 20'000'000'200)});
  EXPECT_EQ(far.ns(kFirstClock, 10'200), 20'000'000'400);
}

TEST(ProgramClocks, APointToldTwiceAndAResolutionMakeALine) {
  const ProgramClocks made = clocks(
      {point(kFirstClock, StampClock::Monotonic, 100, 1000), point(kFirstClock, StampClock::Monotonic, 100, 1000)},
      1'000'000);
  EXPECT_EQ(made.ns(kFirstClock, 101), 2000);
}

TEST(ProgramClocks, ManyTimeDomainsOfOneTypeShareItsPoints) {
  constexpr uint32_t kDomains = 20'000;
  constexpr uint64_t kType = 80;
  std::vector<format::NvtxClockDef> defined{clock_of(kFirstClock, kType)};
  for (uint32_t i = 0; i < kDomains; ++i) {
    defined.push_back(clock_of(static_cast<StampClock>(1000 + i), (uint64_t{1} << 24) + i));
    defined.back().type = kType;
  }
  std::vector<format::NvtxSyncPoint> points;
  for (int i = 0; i < 20'000; ++i) points.push_back(point(kFirstClock, StampClock::Monotonic, 2 * i, i));
  const ProgramClocks made{defined, points, 0, monotonic};  // copies would take six gigabytes
  EXPECT_EQ(made.ns(static_cast<StampClock>(1000 + kDomains - 1), 10'000), 5000);
}

TEST(ProgramClocks, PointsMayBeToldEitherWayRoundAndInAnyOrder) {
  const ProgramClocks made = clocks(
      {point(StampClock::Monotonic, kFirstClock, 1300, 200), point(kFirstClock, StampClock::Monotonic, 100, 1000)});
  EXPECT_EQ(made.ns(kFirstClock, 150), 1150);
}

TEST(ProgramClocks, OnePointIsNoLineUnlessSomethingTellsTheRate) {
  EXPECT_EQ(clocks({point(kFirstClock, StampClock::Monotonic, 100, 1000)}).ns(kFirstClock, 100), std::nullopt);
  EXPECT_EQ(clocks({point(kFirstClock, StampClock::Monotonic, 100, 1000)}, 1'000'000).ns(kFirstClock, 102), 3000)
      << "ticks of a microsecond";
  EXPECT_EQ(clocks({point(kFirstClock, StampClock::Monotonic, 100, 1000, 2.5)}).ns(kFirstClock, 140), 1100)
      << "a factor";
  EXPECT_EQ(clocks({point(StampClock::Monotonic, kFirstClock, 1000, 100, 0.5)}).ns(kFirstClock, 140), 1080)
      << "one the other way";
}

TEST(ProgramClocks, AFactorHoldsBeyondTheLastPoint) {
  const ProgramClocks made = clocks(
      {point(kFirstClock, StampClock::Monotonic, 0, 0, 1), point(kFirstClock, StampClock::Monotonic, 100, 300, 10)});
  EXPECT_EQ(made.ns(kFirstClock, 50), 150);
  EXPECT_EQ(made.ns(kFirstClock, 102), 320);
  EXPECT_EQ(made.ns(kFirstClock, -10), -10);
}

TEST(ProgramClocks, ConversionsAreChained) {
  const ProgramClocks made = clocks(
      {point(kThird, kSecondClock, 0, 10), point(kThird, kSecondClock, 10, 20),
       point(kSecondClock, kFirstClock, 10, 100), point(kSecondClock, kFirstClock, 20, 200),
       point(kFirstClock, StampClock::Monotonic, 100, 1000), point(kFirstClock, StampClock::Monotonic, 200, 3000)});
  EXPECT_EQ(made.ns(kThird, 5), 2000);
}

TEST(ProgramClocks, WhatIsTiedToNothingKnownIsNotConverted) {
  const ProgramClocks made = clocks({point(kThird, kSecondClock, 0, 0), point(kThird, kSecondClock, 1, 1),
                                     point(kFirstClock, StampClock::Tick, 0, 0),
                                     point(kFirstClock, StampClock::Tick, 1, 1), point(kThird, kThird, 5, 5)});
  EXPECT_EQ(made.ns(kThird, 1), std::nullopt);
  EXPECT_EQ(made.ns(kFirstClock, 1), std::nullopt) << "the log cannot convert its partner";
  EXPECT_EQ(made.ns(static_cast<StampClock>(1000), 1), std::nullopt);
}

TEST(ProgramClocks, ExtremeNumbersGiveATimeOrNone) {
  const int64_t extremes[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
  const double slopes[] = {0, 1e-300, 5e-324, 1, 1e18, 1e300, -1};
  for (const int64_t a : extremes) {
    for (const int64_t b : extremes) {
      for (const double slope : slopes) {
        const ProgramClocks made =
            clocks({point(kFirstClock, StampClock::Monotonic, a, b, slope),
                    point(kFirstClock, StampClock::Monotonic, 0, 0), point(kSecondClock, kFirstClock, b, a, slope)},
                   UINT64_MAX);
        for (const int64_t at : extremes) {
          const std::optional<int64_t> ns = made.ns(kFirstClock, at);
          EXPECT_LE(ns.value_or(0), int64_t{1} << 60);
          EXPECT_GE(ns.value_or(0), -(int64_t{1} << 60));
          made.ns(kSecondClock, at);
        }
      }
    }
  }
}

}  // namespace
}  // namespace prof::analyzer
