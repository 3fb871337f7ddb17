#include "analyzer/analysis/two_samples.h"

#include "analyzer/base/log_gamma.h"

#include <algorithm>
#include <cmath>
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
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

// Two-sided p of Student's t with that many degrees of freedom.
double p_of_t(double t, double freedom) { return incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5); }

// The t with that two-sided p, which falls as t grows, so the interval is halved.
double t_of_p(double p, double freedom) {
  double low = 0, high = 1;
  while (p_of_t(high, freedom) > p && high < 1e12) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (p_of_t(middle, freedom) > p ? low : high) = middle;
  }
  return high;
}

double t_of(double confidence, double freedom) { return t_of_p(1 - confidence, freedom); }

// The z whose two-sided p is 1 - confidence.
double z_of(double confidence) {
  double low = 0, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) > 1 - confidence ? low : high) = middle;
  }
  return high;
}

// Satterthwaite's degrees of freedom of a sum of two variances of means.
double freedom_of(double vx, double x_count, double vy, double y_count) {
  return (vx + vy) * (vx + vy) / (vx * vx / (x_count - 1) + vy * vy / (y_count - 1));
}

}  // namespace

std::optional<double> mann_whitney(std::span<double> a, std::span<double> b) {
  if (a.size() < kFewestRanks || b.size() < kFewestRanks) return std::nullopt;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const auto na = static_cast<double>(a.size()), nb = static_cast<double>(b.size()), n = na + nb;
  double rank_sum = 0, ties = 0, before = 0;  // ranks of a; sum of t³ − t; number of values below
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const double value = j == b.size() || (i < a.size() && a[i] <= b[j]) ? a[i] : b[j];
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
  return p_of_t((x.mean - y.mean) / std::sqrt(vx + vy), freedom_of(vx, x.count, vy, y.count));
}

std::optional<RatioInterval> mean_ratio(std::span<const double> a, std::span<const double> b, double confidence) {
  if (a.size() < kFewestRuns || b.size() < kFewestRuns) return std::nullopt;
  const Moments x = moments_of(a), y = moments_of(b);
  if (x.mean <= 0 || y.mean <= 0) return std::nullopt;
  const double vx = x.variance / x.count / (x.mean * x.mean), vy = y.variance / y.count / (y.mean * y.mean);
  const double ratio = x.mean / y.mean;
  if (vx + vy <= 0) return RatioInterval{ratio, ratio, ratio};
  const double off = t_of(confidence, freedom_of(vx, x.count, vy, y.count)) * std::sqrt(vx + vy);
  return RatioInterval{ratio, ratio * std::exp(-off), ratio * std::exp(off)};
}

std::optional<RatioInterval> rank_ratio(std::span<const double> a, std::span<const double> b, double confidence) {
  if (a.size() < kFewestRanks || b.size() < kFewestRanks) return std::nullopt;
  std::vector<double> ratios;
  for (const double x : a) {
    for (const double y : b) {
      if (x <= 0 || y <= 0) return std::nullopt;
      ratios.push_back(x / y);
    }
  }
  const auto na = static_cast<double>(a.size()), nb = static_cast<double>(b.size());
  const double outside = std::floor(na * nb / 2 - z_of(confidence) * std::sqrt(na * nb * (na + nb + 1) / 12));
  if (outside < 1) return std::nullopt;
  std::sort(ratios.begin(), ratios.end());
  const auto k = static_cast<size_t>(outside);
  const size_t middle = ratios.size() / 2;
  const double ratio = ratios.size() % 2 == 1 ? ratios[middle] : (ratios[middle - 1] + ratios[middle]) / 2;
  return RatioInterval{ratio, ratios[k - 1], ratios[ratios.size() - k]};
}

double student_limit(double p, double freedom) { return t_of_p(2 * p, freedom); }

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
