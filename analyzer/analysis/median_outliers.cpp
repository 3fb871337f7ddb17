#include "analyzer/analysis/median_outliers.h"

#include "analyzer/analysis/two_samples.h"
#include "analyzer/base/log_gamma.h"

#include <algorithm>
#include <cmath>

namespace prof::analyzer {

namespace {

constexpr double kDeviationOfMad = 1.4826;  // of a normal distribution
constexpr double kEfficiencyOfMad = 0.37;

double middle_of(std::vector<double>& values) {
  const auto at = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  if (values.size() % 2 == 1) return *at;
  return (*std::max_element(values.begin(), at) + *at) / 2;
}

bool is_tested(const OutlierItem& item) { return item.ranks.size() >= kFewestOutlierRanks; }

// The largest k with P(fewer than k of n fair coins show heads) <= 1e-6, at least 1. By the sum of the binomial
// distribution up to 1,000 values, then by its normal approximation.
double sign_test_rank(double n) {
  constexpr double kRisk = 1e-6, kDeviations = 4.7534;
  if (n > 1000) return std::max(1.0, std::floor(n / 2 - kDeviations * std::sqrt(n) / 2));
  const auto count = static_cast<int>(n);
  double below = 0;
  int k = 0;
  for (; k < count / 2; ++k) {
    below += std::exp(log_gamma(count + 1) - log_gamma(k + 1) - log_gamma(count - k + 1) - count * std::log(2.0));
    if (below > kRisk) break;
  }
  return std::max(1, k);
}

// The value up to which the sorted values have that weight.
double at_weight(const std::vector<WeightedValue>& sorted, double weight) {
  double sum = 0;
  for (const WeightedValue& each : sorted) {
    sum += each.weight;
    if (sum >= weight) return each.value;
  }
  return sorted.back().value;
}

}  // namespace

size_t tested_pairs(std::span<const OutlierItem> items) {
  size_t pairs = 0;
  for (const OutlierItem& item : items) pairs += is_tested(item) ? item.ranks.size() : 0;
  return pairs;
}

std::vector<Outlier> find_outliers(std::span<const OutlierItem> items) {
  std::vector<Outlier> found;
  const auto pairs = static_cast<double>(tested_pairs(items));
  size_t limit_ranks = 0;
  double limit = 0;
  std::vector<double> values, off, worse;
  for (uint32_t i = 0; i < items.size(); ++i) {
    const OutlierItem& item = items[i];
    if (!is_tested(item)) continue;
    values.clear();
    for (const RankValue& rank : item.ranks) values.push_back(rank.value);
    const double median = middle_of(values), sign = item.low_is_worse ? -1 : 1;
    off.clear();
    worse.clear();
    for (const double value : values) {
      off.push_back(std::abs(value - median));
      if (sign * (value - median) > 0) worse.push_back(off.back());
    }
    double mad = middle_of(off);
    if (worse.size() >= kFewestOutlierRanks) mad = std::max(mad, middle_of(worse));
    const double deviation =
        std::max({kDeviationOfMad * mad, item.least_deviation, item.least_share * std::abs(median)});
    if (!(deviation > 0)) continue;
    if (item.ranks.size() != limit_ranks) {
      limit_ranks = item.ranks.size();
      limit = student_limit(kFalseFindings / pairs, kEfficiencyOfMad * static_cast<double>(limit_ranks - 1));
    }
    for (const RankValue& rank : item.ranks) {
      const double z = sign * (rank.value - median) / deviation;
      const double nearest = item.low_is_worse ? rank.high : rank.low;
      if (z > limit && sign * (nearest - median) > 0) found.push_back({i, rank.rank, rank.value, median, z, limit});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Outlier& a, const Outlier& b) { return a.z > b.z; });
  return found;
}

RankValue limits_of_median(std::vector<WeightedValue> values) {
  RankValue result;
  std::erase_if(values, [](const WeightedValue& each) { return !(each.weight > 0); });
  if (values.empty()) return result;
  std::sort(values.begin(), values.end(),
            [](const WeightedValue& a, const WeightedValue& b) { return a.value < b.value; });
  double sum = 0, squares = 0;
  for (const WeightedValue& each : values) {
    sum += each.weight;
    squares += each.weight * each.weight;
  }
  const double n = sum * sum / squares, share = sign_test_rank(n + 0.5) / n;
  result.low = at_weight(values, sum * std::min(0.5, share) * (1 - 1e-9));
  std::reverse(values.begin(), values.end());
  result.high = at_weight(values, sum * std::min(0.5, share) * (1 - 1e-9));
  const double above = at_weight(values, sum / 2 * (1 - 1e-9));
  std::reverse(values.begin(), values.end());
  result.value = (at_weight(values, sum / 2 * (1 - 1e-9)) + above) / 2;
  return result;
}

}  // namespace prof::analyzer
