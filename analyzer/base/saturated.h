// Sums of numbers from a log or a trace. Numbers of a damaged input may be anything, so sums saturate at the end of the
// range instead of wrapping.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace prof::analyzer {

template <std::integral T> constexpr T add_saturated(T a, T b) {
  T sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}

template <std::integral T> constexpr void grow(T& sum, std::type_identity_t<T> by) { sum = add_saturated(sum, by); }

}  // namespace prof::analyzer
