// Is the difference between two samples significant? Tests for durations, which are skewed and have ties, and the
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
inline constexpr size_t kFewestLaunches = 8;
std::optional<double> mann_whitney(std::span<int64_t> a, std::span<int64_t> b);

// Two-sided p of Welch's t test that both samples have the same mean, for any variances. For small samples that are
// nearly normal, such as medians of runs; nullopt for fewer than three values per side. 0 if neither sample varies and
// the means differ.
inline constexpr size_t kFewestRuns = 3;
std::optional<double> welch(std::span<const double> a, std::span<const double> b);

// Benjamini and Hochberg (1995): for each p the share of false discoveries if all rows up to it are accepted. Same
// order as `p`.
std::vector<double> false_discovery_rates(std::span<const double> p);

}  // namespace prof::analyzer
