// Which ranks of a job are slower than the others, at which item? An item is a kernel, a direction of copies, a cause
// of idle time …, and has one value for each rank. Used by the report `ranks`; independent of what the values mean.
//
// A value is an outlier if both hold:
//   1. z = (value - m) / s exceeds the limit, where m is the median over the ranks, and s estimates the standard
//      deviation by the median absolute deviation: s = 1.4826 max(MAD, MAD of the worse half). (B. Iglewicz,
//      D. Hoaglin, "How to Detect and Handle Outliers", 1993.) The worse half is measured by itself because
//      times are skewed. If more than a quarter of the ranks are slow alike, they are a mode, and none is an outlier.
//   2. the sign test: the confidence limit of the rank's own median, from its own calls or steps, is also worse than m.
//      It needs no distribution, so ranks whose times have two modes are no outliers by chance. (W. J. Conover,
//      "Practical Nonparametric Statistics", 1999, 3.2.)
//
// The limit is the quantile of Student's t for p = 0.01 / (number of pairs of rank and item that are tested): by
// Bonferroni, a job without a slow rank has a false finding with a probability of at most 1 %, if values of fast ranks
// are distributed like a normal distribution or with a shorter tail. Its degrees of freedom are 0.37 (ranks - 1): the
// MAD is as precise as the standard deviation of 0.37 times as many values (P. Rousseeuw, C. Croux, "Alternatives to
// the Median Absolute Deviation", 1993), so few ranks have a larger limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace prof::analyzer {

// With fewer ranks, no outlier can be found: two of three values may be the slow ones.
inline constexpr size_t kFewestOutlierRanks = 4;
inline constexpr double kFalseFindings = 0.01;  // probability for a whole job

struct RankValue {
  uint32_t rank = 0;         // a row of the caller
  double value = 0;          // the rank's median
  double low = 0, high = 0;  // the confidence limits of it: limits_of_median()
};

struct OutlierItem {
  std::vector<RankValue> ranks;
  double least_deviation = 0;  // s is at least this, and this share of the median: the resolution of the values
  double least_share = 0;
  bool low_is_worse = false;
};

struct Outlier {
  uint32_t item = 0, rank = 0;
  double value = 0, median = 0;  // of the rank; over the ranks
  double z = 0, limit = 0;       // in deviations, positive: worse
};

// Worst z first. Items with fewer ranks than kFewestOutlierRanks are left out. O(values).
std::vector<Outlier> find_outliers(std::span<const OutlierItem> items);

// Number of pairs of rank and item that find_outliers() tests.
size_t tested_pairs(std::span<const OutlierItem> items);

// The median of the values and its confidence limits: the k-th smallest and the k-th largest value, with the largest k
// for which fewer than k of n values are on one side of the true median with a probability of at most 1e-6; k = 1 if
// there is none. Values may have weights, such as the bytes of a copy; n is then (sum of weights)² / (sum of squares),
// after L. Kish, "Survey Sampling", 1965. All 0 if there are no values. O(n log n).
struct WeightedValue {
  double value = 0, weight = 1;
};
RankValue limits_of_median(std::vector<WeightedValue> values);

}  // namespace prof::analyzer
