// Outliers among ranks, by values computed by hand.
#include "analyzer/analysis/median_outliers.h"
#include "analyzer/analysis/two_samples.h"

#include <gtest/gtest.h>

#include <vector>

namespace prof::analyzer {
namespace {

OutlierItem item_of_values(const std::vector<double>& values) {
  OutlierItem item;
  for (uint32_t r = 0; r < values.size(); ++r) item.ranks.push_back({r, values[r], values[r], values[r]});
  return item;
}

TEST(MedianOutliers, FindsTheOneThatIsFarAway) {
  std::vector<double> values;
  for (int r = 0; r < 64; ++r) values.push_back(100 + r % 5);
  values[17] = 130;
  const OutlierItem item = item_of_values(values);
  const auto found = find_outliers({&item, 1});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rank, 17u);
  EXPECT_EQ(found[0].median, 102);
  // MAD 1; of the worse half 1.5: 13 values are 1 above the median, 12 are 2.
  EXPECT_NEAR(found[0].z, 28 / (1.5 * 1.4826), 1e-6);
  EXPECT_NEAR(found[0].limit, student_limit(0.01 / 64, 0.37 * 63), 1e-9);
}

TEST(MedianOutliers, FewerThanFourRanksAreNotTested) {
  const OutlierItem item = item_of_values({100, 100.1, 1000});
  EXPECT_TRUE(find_outliers({&item, 1}).empty());
  EXPECT_EQ(tested_pairs({&item, 1}), 0u);
}

TEST(MedianOutliers, TheLimitGrowsWithTheNumberOfTestsAndWithFewerRanks) {
  EXPECT_GT(student_limit(0.01 / 10000, 20), student_limit(0.01 / 100, 20));
  EXPECT_GT(student_limit(0.01 / 100, 2), student_limit(0.01 / 100, 20));
  // Tables of Student's t: one-sided 0.5 % with 10 degrees of freedom.
  EXPECT_NEAR(student_limit(0.005, 10), 3.169, 1e-3);
}

TEST(MedianOutliers, ARankWhoseOwnCallsDoNotShowItIsNoOutlier) {
  std::vector<double> values(40, 100);
  OutlierItem item = item_of_values(values);
  item.least_deviation = 1;
  item.ranks[3].value = 200;  // but its confidence limit is that of the others
  EXPECT_TRUE(find_outliers({&item, 1}).empty());
  item.ranks[3].low = 150;
  EXPECT_EQ(find_outliers({&item, 1}).size(), 1u);
}

TEST(MedianOutliers, LowValuesAreWorseWhereTheItemSaysSo) {
  std::vector<double> values(40, 100);
  values[5] = 10;
  values[6] = 190;
  OutlierItem item = item_of_values(values);
  item.least_deviation = 1;
  item.low_is_worse = true;
  const auto found = find_outliers({&item, 1});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rank, 5u);
  EXPECT_GT(found[0].z, 0);
}

TEST(MedianOutliers, NearlyHalfOfTheRanksMayBeSlow) {
  std::vector<double> values(60, 100);
  for (int r = 0; r < 14; ++r) values[static_cast<size_t>(r)] = 150 + r % 2;
  OutlierItem item = item_of_values(values);
  item.least_share = 0.002;
  // The worse half has only slow ranks, so its own deviation hides them: they are a mode, not outliers.
  EXPECT_TRUE(find_outliers({&item, 1}).empty());
}

TEST(MedianOutliers, TheMedianAndItsLimitsAreOrderStatistics) {
  std::vector<WeightedValue> values;
  for (int i = 100; i >= 1; --i) values.push_back({static_cast<double>(i), 1});
  const RankValue limits = limits_of_median(values);
  EXPECT_EQ(limits.value, 50.5);
  // The largest k with P(Bin(100, 1/2) < k) <= 1e-6 is 27: P(Bin < 27) = 5.6e-7, P(Bin < 28) = 1.6e-6.
  EXPECT_EQ(limits.low, 27);
  EXPECT_EQ(limits.high, 74);
}

TEST(MedianOutliers, FewValuesHaveTheirLeastAndLargestAsLimits) {
  const RankValue limits = limits_of_median({{3, 1}, {1, 1}, {2, 1}});
  EXPECT_EQ(limits.value, 2);
  EXPECT_EQ(limits.low, 1);
  EXPECT_EQ(limits.high, 3);
  EXPECT_EQ(limits_of_median({}).value, 0);
}

TEST(MedianOutliers, AValueCountsByItsWeight) {
  EXPECT_EQ(limits_of_median({{1, 1}, {1, 1}, {1, 1}, {9, 100}}).value, 9);
}

}  // namespace
}  // namespace prof::analyzer
