// The statistics used by `prof diff`, compared with values computed by hand or known from tables.
#include "analyzer/analysis/two_samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace prof::analyzer {
namespace {

using Values = std::vector<double>;

std::optional<double> ranks(Values a, Values b) { return mann_whitney(a, b); }
std::optional<double> means(const std::vector<double>& a, const std::vector<double>& b) { return welch(a, b); }

TEST(MannWhitney, SeparateSamplesOfEight) {
  // U = 0, mean 32, variance 8·8·17/12: z = 31.5 / 9.5219 = 3.3082, p = 0.000939.
  EXPECT_NEAR(*ranks({1, 2, 3, 4, 5, 6, 7, 8}, {9, 10, 11, 12, 13, 14, 15, 16}), 0.000939, 1e-6);
  // The result does not depend on the order.
  EXPECT_DOUBLE_EQ(*ranks({9, 10, 11, 12, 13, 14, 15, 16}, {1, 2, 3, 4, 5, 6, 7, 8}),
                   *ranks({8, 7, 6, 5, 4, 3, 2, 1}, {16, 15, 14, 13, 12, 11, 10, 9}));
}

TEST(MannWhitney, TiesTakeTheMiddleOfTheirRanks) {
  // Ranks of a: 8 of them tie with 4 of b at (1 + 12) / 2 = 6.5, so U = 52 − 36 = 16; Σ(t³ − t) = 1716 + 60.
  // Variance 64/12·(17 − 1776/240) = 51.2; z = 15.5 / 7.1554 = 2.1662.
  EXPECT_NEAR(*ranks({5, 5, 5, 5, 5, 5, 5, 5}, {5, 5, 5, 5, 9, 9, 9, 9}), 0.030297, 1e-5);
}

TEST(MannWhitney, EqualSamplesAndFewValues) {
  EXPECT_DOUBLE_EQ(*ranks(Values(9, 4), Values(12, 4)), 1);
  EXPECT_GT(*ranks({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 8}), 0.9);
  EXPECT_FALSE(ranks({1, 2, 3, 4, 5, 6, 7}, {1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_FALSE(ranks({}, {}));
}

TEST(Welch, ThreeAgainstThree) {
  // t = 3 / √(2/3) = 3.6742 with 4 degrees of freedom.
  EXPECT_NEAR(*means({1, 2, 3}, {4, 5, 6}), 0.0213116, 1e-6);
  // Variances 4 and 0.01: t = 2 / √(4/3 + 0.01/3) = 1.72992; 2.00999 degrees of freedom.
  EXPECT_NEAR(*means({8, 10, 12}, {7.9, 8, 8.1}), 0.2253, 2e-3);
}

TEST(Welch, NoVariance) {
  EXPECT_DOUBLE_EQ(*means({2, 2, 2}, {2, 2, 2}), 1);
  EXPECT_DOUBLE_EQ(*means({2, 2, 2}, {3, 3, 3}), 0);
  EXPECT_FALSE(means({1, 2}, {1, 2, 3}));
}

TEST(MeanRatio, IsTheDeltaMethodOnTheLogarithm) {
  // Means 11 and 5; relative variances of the means 1/3/121 and 1/3/25, together 0.016088; degrees of freedom
  // 0.016088² / ((0.0027548² + 0.0133333²) / 2) = 2.7925; t of 95 % is 3.3145 (between 4.3027 and 3.1824).
  const std::optional<RatioInterval> ratio =
      mean_ratio(std::vector<double>{10, 11, 12}, std::vector<double>{4, 5, 6}, 0.95);
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->ratio, 2.2);
  EXPECT_NEAR(std::log(ratio->high / 2.2) / std::sqrt(1.0 / 363 + 1.0 / 75), 3.32, 0.03);
  EXPECT_NEAR(ratio->high / 2.2, 2.2 / ratio->low, 1e-9);
}

TEST(MeanRatio, TheIntervalGrowsWithTheConfidenceAndContainsNothingElseWithoutVariance) {
  const std::vector<double> a{10, 11, 12}, b{9, 10, 11};
  EXPECT_LT(mean_ratio(a, b, 0.9)->high, mean_ratio(a, b, 0.99)->high);
  const RatioInterval exact = *mean_ratio(std::vector<double>{3, 3, 3}, std::vector<double>{2, 2, 2}, 0.99);
  EXPECT_EQ(exact.low, 1.5);
  EXPECT_EQ(exact.high, 1.5);
  EXPECT_FALSE(mean_ratio(std::vector<double>{0, 0, 0}, b, 0.99));
  EXPECT_FALSE(mean_ratio(a, std::vector<double>{1, 2}, 0.99));
}

TEST(MeanRatio, ContainsTheTruthAsOftenAsItsConfidence) {
  std::mt19937 random(5);
  std::normal_distribution<double> x(110, 8), y(100, 3);
  int inside = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> a(10), b(20);
    for (double& each : a) each = x(random);
    for (double& each : b) each = y(random);
    const RatioInterval ratio = *mean_ratio(a, b, 0.95);
    inside += ratio.low <= 1.1 && 1.1 <= ratio.high ? 1 : 0;
  }
  EXPECT_NEAR(inside / 2000.0, 0.95, 0.015);
}

TEST(RankRatio, IsTheMedianOfAllRatiosAndIgnoresAnOutlier) {
  const Values b{10, 10, 10, 10, 10, 10, 10, 10};
  const std::optional<RatioInterval> ratio = rank_ratio(Values{11, 11, 11, 11, 11, 11, 11, 900}, b, 0.95);
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->ratio, 1.1);
  EXPECT_DOUBLE_EQ(ratio->low, 1.1);
  EXPECT_DOUBLE_EQ(ratio->high, 1.1);
  // 64 pairs: 64/2 - z * sqrt(64 * 17 / 12) is below 1 from z = 3.26 on.
  EXPECT_TRUE(rank_ratio(b, b, 0.998));
  EXPECT_FALSE(rank_ratio(b, b, 0.9999));
  EXPECT_FALSE(rank_ratio(Values{1, 2, 3, 4, 5, 6, 7}, b, 0.95));
  EXPECT_FALSE(rank_ratio(Values{0, 1, 2, 3, 4, 5, 6, 7}, b, 0.95));
}

TEST(RankRatio, ContainsTheTruthAsOftenAsItsConfidence) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 0.1);
  std::uniform_int_distribution<int> tail(0, 19);
  int inside = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    Values a(20), b(16);
    for (double& each : a) each = 1.2 * std::exp(noise(random)) * (tail(random) == 0 ? 5 : 1);
    for (double& each : b) each = std::exp(noise(random)) * (tail(random) == 0 ? 5 : 1);
    const RatioInterval ratio = *rank_ratio(a, b, 0.95);
    inside += ratio.low <= 1.2 && 1.2 <= ratio.high ? 1 : 0;
  }
  EXPECT_NEAR(inside / 1000.0, 0.95, 0.025);
}

TEST(FalseDiscoveryRates, FollowBenjaminiAndHochberg) {
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005};
  const std::vector<double> expected{0.02, 0.04, 0.04, 0.02};
  const std::vector<double> rates = false_discovery_rates(p);
  ASSERT_EQ(rates.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(rates[i], expected[i], 1e-12);
  EXPECT_TRUE(false_discovery_rates({}).empty());
  // Never above 1, and never smaller for a larger p.
  EXPECT_DOUBLE_EQ(false_discovery_rates(std::vector<double>{0.9, 0.95})[0], 0.95);
}

}  // namespace
}  // namespace prof::analyzer
