// Sums of numbers from a log or a trace. Numbers of a damaged input may be anything, so sums saturate at the end of the
// range instead of wrapping. The program remembers that one did, because the answer is then only a bound: the coverage
// line and the exit status report it.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace prof::analyzer {

// Whether a sum of this process has saturated.
inline std::atomic<bool> any_sum_saturated{false};

template <std::integral T> constexpr T add_saturated(T a, T b) {
  T sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  if (!std::is_constant_evaluated()) any_sum_saturated.store(true, std::memory_order_relaxed);
  return a < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}

template <std::integral T> constexpr void grow(T& sum, std::type_identity_t<T> by) { sum = add_saturated(sum, by); }

}  // namespace prof::analyzer
