// The statistics used by `prof diff`, compared with values computed by hand or known from tables.
#include "analyzer/analysis/rank_test.h"

#include <gtest/gtest.h>

#include <vector>

namespace prof::analyzer {
namespace {

using Values = std::vector<int64_t>;

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
