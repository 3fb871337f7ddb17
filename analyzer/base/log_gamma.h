// The logarithm of the gamma function, for distributions. std::lgamma() writes a global variable, the sign, so two
// threads must not call it at once.
#pragma once

#include <cmath>

namespace prof::analyzer {

// ln |Γ(x)|. Safe on any thread.
inline double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

}  // namespace prof::analyzer
