// A benchmark's limits: one line each, with the number; the caller's status is 1 if one is missed.
#pragma once

#include <cstdio>

namespace prof::bench {

inline bool print_limit(bool met, const char* what, double found, double limit, const char* unit) {
  std::printf("  %s  %s: %.1f %s, limit %.1f\n", met ? "pass" : "FAIL", what, found, unit, limit);
  return met;
}
inline bool at_most(double limit, const char* what, double found, const char* unit) {
  return print_limit(found <= limit, what, found, limit, unit);
}
inline bool at_least(double limit, const char* what, double found, const char* unit) {
  return print_limit(found >= limit, what, found, limit, unit);
}

}  // namespace prof::bench
