// Is the difference between two samples significant, and how large may it be? Tests of ranks and of means, and the
// correction for testing many rows. Used by `prof diff`; independent of what the numbers mean.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace prof::analyzer {

// Two-sided p of the Mann-Whitney U test that both samples have the same distribution. It uses the normal approximation
// with corrections for ties and continuity, valid from about eight values per side; nullopt for fewer. 1 if all values
// are equal. O(n log n); reorders both samples.
inline constexpr size_t kFewestRanks = 8;
std::optional<double> mann_whitney(std::span<double> a, std::span<double> b);

// Two-sided p of Welch's t test that both samples have the same mean, for any variances. For small samples that are
// nearly normal, such as medians of runs; nullopt for fewer than three values per side. 0 if neither sample varies and
// the means differ.
inline constexpr size_t kFewestRuns = 3;
std::optional<double> welch(std::span<const double> a, std::span<const double> b);

// The mean of `a` relative to the mean of `b`, and the interval that contains the true ratio with that confidence. By
// Welch's t on the logarithm of the ratio, whose variance is the sum of the relative variances of both means (the delta
// method). nullopt for fewer than kFewestRuns values per side, or a mean of 0 or less.
struct RatioInterval {
  double ratio = 1, low = 1, high = 1;
};
std::optional<RatioInterval> mean_ratio(std::span<const double> a, std::span<const double> b, double confidence);

// The median of all ratios of a value of `a` to a value of `b` (Hodges and Lehmann, 1963), and the interval that the
// Mann-Whitney test does not reject with that confidence, by the normal approximation. A few extreme values do not
// change it. nullopt for fewer than kFewestRanks values per side, values of 0 or less, or so few values that no
// interval has that confidence. O(|a| |b| log).
std::optional<RatioInterval> rank_ratio(std::span<const double> a, std::span<const double> b, double confidence);

// The value that Student's t with that many degrees of freedom (which may be a fraction) exceeds with probability `p`,
// 0 < p < 0.5. At most 1e12.
double student_limit(double p, double freedom);

// Benjamini and Hochberg (1995): for each p the share of false discoveries if all rows up to it are accepted. Same
// order as `p`.
std::vector<double> false_discovery_rates(std::span<const double> p);

}  // namespace prof::analyzer
