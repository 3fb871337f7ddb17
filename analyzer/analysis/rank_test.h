// Is the difference between two samples more than chance? Tests for durations, which are skewed and have ties, and the
// correction for asking it of many rows at once. Used by `prof diff`; nothing here knows what the numbers are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace prof::analyzer {

// Two-sided p of the Mann-Whitney U test: the samples come from one distribution. Normal approximation with corrections for
// ties and continuity, which holds from about eight values a side; nothing for less than that. 1 where all values are equal.
// O(n log n); reorders both.
inline constexpr size_t kFewestLaunches = 8;
std::optional<double> mann_whitney(std::span<int64_t> a, std::span<int64_t> b);

// Two-sided p of Welch's t test: the samples have one mean, whatever their variances. For few values that are nearly normal,
// as medians of runs are; nothing for less than three a side. 0 where neither varies and the means differ.
inline constexpr size_t kFewestRuns = 3;
std::optional<double> welch(std::span<const double> a, std::span<const double> b);

// Benjamini and Hochberg (1995): each p as the share of false discoveries if rows up to it are taken. Same order.
std::vector<double> false_discovery_rates(std::span<const double> p);

}  // namespace prof::analyzer
