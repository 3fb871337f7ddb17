// Sums of PC samples: weights, reasons, and intervals that cover the share as often as they promise.
#include "analyzer/analysis/kernel_lines/pc_places.h"
#include "analyzer/analysis/kernel_lines/stall_reasons.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace prof::analyzer {
namespace {

SampleSum sum_of(uint64_t samples, uint8_t period) {
  SampleSum sum;
  sum.add(samples, period);
  return sum;
}

TEST(StallSums, WeightSamplesByTheirPeriod) {
  StallSums sums;
  sums.add(StringId{1}, 10, 4, 16);
  sums.add(StringId{2}, 30, 0, 15);
  sums.add(StringId{1}, 2, 1, 15);
  EXPECT_EQ(sums.all.samples, 42u);
  EXPECT_EQ(sums.all.cycles, 10 * 65536.0 + 32 * 32768.0);
  EXPECT_EQ(sums.not_issued_cycles, 4 * 65536.0 + 32768.0);
  EXPECT_EQ(sums.cycles_of(StringId{1}), 10 * 65536.0 + 2 * 32768.0);
  EXPECT_EQ(sums.ordered().front().name, StringId{2});
  StallSums twice = sums;
  twice.add(sums);
  EXPECT_EQ(twice.all.cycles, 2 * sums.all.cycles);
  EXPECT_EQ(twice.cycles_of(StringId{2}), 2 * sums.cycles_of(StringId{2}));
}

TEST(StallSums, CyclesOfAPeriodAreAPowerOfTwo) {
  for (const int period : {0, 1, 16, 31, 255})
    EXPECT_EQ(period_cycles(static_cast<uint8_t>(period)), std::ldexp(1.0, period));
}

// Wilson's interval of 20 of 100 is 0.1334 to 0.2888; of 0 of 100 it is 0 to 0.0370.
TEST(StallSums, HaveWilsonsIntervals) {
  EXPECT_NEAR(share_half_width(sum_of(20, 16), sum_of(100, 16)), 0.2888 - 0.2, 1e-4);
  EXPECT_NEAR(share_half_width({}, sum_of(100, 16)), 0.0370, 1e-4);
  EXPECT_NEAR(share_half_width(sum_of(100, 16), sum_of(100, 16)), 0.0370, 1e-4);
  EXPECT_EQ(share_half_width({}, {}), 0);
}

// Half of the samples have eight times the weight of the others.
TEST(StallSums, HaveIntervalsThatCoverTheShareWithSeveralPeriods) {
  std::mt19937_64 random(7);
  constexpr double kShare = 0.3;
  constexpr int kTrials = 4000;
  std::binomial_distribution<uint64_t> draw(150, kShare);
  int covered = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    SampleSum whole = sum_of(150, 16), part = sum_of(draw(random), 16);
    whole.add(150, 13);
    part.add(draw(random), 13);
    covered += std::abs(part.cycles / whole.cycles - kShare) <= share_half_width(part, whole) ? 1 : 0;
  }
  EXPECT_GT(covered, kTrials * 94 / 100);
  EXPECT_LT(covered, kTrials * 98 / 100);
}

TEST(StallReasons, HaveWordsOnceEachAndUnknownOnesKeepTheirName) {
  std::set<std::string_view> names;
  for (const StallReason& each : kStallReasons) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_FALSE(each.words.empty() || each.meaning.empty() || each.action.empty()) << each.name;
  }
  EXPECT_EQ(stall_reason("smsp__pcsamp_warps_issue_stalled_barrier").words, "wait at a barrier");
  EXPECT_EQ(stall_reason("smsp__pcsamp_warps_issue_stalled_later").words, "later");
  EXPECT_EQ(stall_reason("").words, "have an unknown reason");
}

}  // namespace
}  // namespace prof::analyzer
