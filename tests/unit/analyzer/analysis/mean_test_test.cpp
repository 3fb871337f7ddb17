// The statistics used by `prof diff`, compared with values computed by hand or known from tables.
#include "analyzer/analysis/mean_test.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace prof::analyzer {
namespace {

std::optional<double> means(const std::vector<double>& a, const std::vector<double>& b) { return welch(a, b); }

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
