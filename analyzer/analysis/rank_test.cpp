#include "analyzer/analysis/rank_test.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace prof::analyzer {

namespace {

struct Moments {
  double count = 0, mean = 0, variance = 0;  // of a sample
};
Moments moments_of(std::span<const double> values) {
  Moments m;
  m.count = static_cast<double>(values.size());
  m.mean = std::accumulate(values.begin(), values.end(), 0.0) / m.count;
  for (const double value : values) m.variance += (value - m.mean) * (value - m.mean);
  m.variance /= m.count - 1;
  return m;
}

// The continued fraction of the incomplete beta function, by Lentz's method.
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), result = d;
  for (int m = 1; m <= 300; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    const double step = d * c;
    result *= step;
    if (std::abs(step - 1) < 1e-14) break;
  }
  return result;
}

// The regularised incomplete beta function.
double incomplete_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

}  // namespace

std::optional<double> mann_whitney(std::span<int64_t> a, std::span<int64_t> b) {
  if (a.size() < kFewestLaunches || b.size() < kFewestLaunches) return std::nullopt;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const auto na = static_cast<double>(a.size()), nb = static_cast<double>(b.size()), n = na + nb;
  double rank_sum = 0, ties = 0, before = 0;  // ranks of a; sum of t³ − t; number of values below
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const int64_t value = j == b.size() || (i < a.size() && a[i] <= b[j]) ? a[i] : b[j];
    double of_a = 0, of_b = 0;
    while (i < a.size() && a[i] == value) {
      ++i;
      ++of_a;
    }
    while (j < b.size() && b[j] == value) {
      ++j;
      ++of_b;
    }
    const double t = of_a + of_b;
    rank_sum += of_a * (before + (t + 1) / 2);
    ties += t * t * t - t;
    before += t;
  }
  const double u = rank_sum - na * (na + 1) / 2;
  const double variance = na * nb / 12 * (n + 1 - ties / (n * (n - 1)));
  if (variance <= 0) return 1;  // all values are equal
  const double off = std::max(0.0, std::abs(u - na * nb / 2) - 0.5);
  return std::erfc(off / std::sqrt(variance) / std::sqrt(2.0));
}

std::optional<double> welch(std::span<const double> a, std::span<const double> b) {
  if (a.size() < kFewestRuns || b.size() < kFewestRuns) return std::nullopt;
  const Moments x = moments_of(a), y = moments_of(b);
  const double vx = x.variance / x.count, vy = y.variance / y.count;
  if (vx + vy <= 0) return x.mean == y.mean ? 1.0 : 0.0;
  const double t2 = (x.mean - y.mean) * (x.mean - y.mean) / (vx + vy);
  const double freedom = (vx + vy) * (vx + vy) / (vx * vx / (x.count - 1) + vy * vy / (y.count - 1));
  return incomplete_beta(freedom / (freedom + t2), freedom / 2, 0.5);
}

std::vector<double> false_discovery_rates(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> rates(p.size());
  double least = 1;
  for (size_t rank = p.size(); rank-- > 0;) {
    least = std::min(least, p[order[rank]] * static_cast<double>(p.size()) / static_cast<double>(rank + 1));
    rates[order[rank]] = least;
  }
  return rates;
}

}  // namespace prof::analyzer
