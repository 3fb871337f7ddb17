// Statistics of durations in a table: count, total, mean, median, quartiles, minimum, maximum, deviation. Used by every
// report with such columns, so that they have the same meaning everywhere.
#pragma once

#include "analyzer/base/saturated.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace prof::analyzer {

// `part` of the whole in percent; 0 where the whole is 0 or less.
inline double percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

// All 0 if there are no values. Exact in ns except mean and stddev; median and quartiles may be halves or quarters of a
// nanosecond.
struct Statistics {
  uint64_t count = 0;
  int64_t total = 0, min = 0, max = 0;
  double mean = 0;
  double q1 = 0, median = 0, q3 = 0;  // linear between the closest ranks, as in NumPy and pandas
  double stddev = 0;                  // of a sample (N − 1); 0 for one value
};

// The value at rank q · (N − 1) of the sorted values, interpolated linearly between two ranks. Reorders the values.
inline double quantile(std::span<int64_t> values, double q) {
  if (values.empty()) return 0;
  const double rank = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(rank);
  const auto at = values.begin() + static_cast<ptrdiff_t>(below);
  std::nth_element(values.begin(), at, values.end());
  const double share = rank - static_cast<double>(below);
  if (share == 0) return static_cast<double>(*at);
  const int64_t next = *std::min_element(at + 1, values.end());
  return static_cast<double>(*at) + share * (static_cast<double>(next) - static_cast<double>(*at));
}

// O(N). Reorders the values.
inline Statistics statistics_of(std::span<int64_t> values) {
  Statistics all;
  all.count = values.size();
  if (values.empty()) return all;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  all.min = *least;
  all.max = *most;
  double sum = 0;
  for (const int64_t value : values) {
    all.total = add_saturated(all.total, value);
    sum += static_cast<double>(value);
  }
  const auto count = static_cast<double>(values.size());
  all.mean = sum / count;
  double squares = 0;
  for (const int64_t value : values) {
    const double off = static_cast<double>(value) - all.mean;
    squares += off * off;
  }
  if (values.size() > 1) all.stddev = std::sqrt(squares / (count - 1));
  all.q1 = quantile(values, 0.25);
  all.median = quantile(values, 0.5);
  all.q3 = quantile(values, 0.75);
  return all;
}

// Rounds half away from zero: a mean in a cell of integer ns.
inline int64_t whole_ns(double ns) { return static_cast<int64_t>(std::llround(ns)); }

}  // namespace prof::analyzer
