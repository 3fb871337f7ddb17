// The noise of a job of many ranks: durations of a real job resampled, a clock rate of each rank within 1 %, and tails
// that are heavier than the real ones. Used by the program that makes the logs of such jobs, and by tests and
// benchmarks of the comparison of ranks.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string_view>

namespace prof::tests {

struct RealDurations {
  std::string_view name;
  std::array<double, 25> quantiles_ns;
};

inline constexpr RealDurations kRealDurations[] = {
#define REAL_DURATION(name, ...) {#name, {__VA_ARGS__}},
#include "tests/golden/real_durations.def"
#undef REAL_DURATION
};
inline constexpr size_t kRealKernels = std::size(kRealDurations) - 1;  // the last one is a copy
inline constexpr size_t kRealCopy = kRealKernels;
inline constexpr double kRealCopyBytes = 16'777'216;

class JobNoise {
 public:
  explicit JobNoise(uint64_t seed) : random_(seed) {}

  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  // How much longer a rank's GPU needs for everything.
  double rank_rate() { return uniform(0.99, 1.01); }
  // A duration of row `of` of kRealDurations, in ns. One of 50 is longer by a Pareto-distributed factor, up to 20.
  double duration_ns(size_t of) {
    const auto& quantiles = kRealDurations[of].quantiles_ns;
    const double at = uniform(0, static_cast<double>(quantiles.size() - 1));
    const auto below = static_cast<size_t>(at);
    const double share = at - static_cast<double>(below);
    return (quantiles[below] + share * (quantiles[std::min(below + 1, quantiles.size() - 1)] - quantiles[below])) *
           tail(0.02);
  }
  // The time that the host needs between two steps: log-normal around 60 us, one of 20 with a tail.
  double host_ns() { return 60'000 * std::exp(std::normal_distribution<double>(0, 0.3)(random_)) * tail(0.05); }

 private:
  double tail(double share) {
    if (uniform(0, 1) >= share) return 1;
    return std::min(20.0, std::pow(1 - uniform(0, 1), -1 / 1.5));
  }

  std::mt19937_64 random_;
};

}  // namespace prof::tests
