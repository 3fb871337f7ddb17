// Offline, inside the builder only: what of the log of a ring is left out.
#pragma once

#include "analyzer/input/log/build/staging.h"

#include <cstdint>

namespace prof::analyzer {

// Before a ring's horizon things are there by chance: counted, not shown. What was under way at that moment begins with it.
struct Horizon {
  explicit Horizon(const LogInput& input) : tick(input.horizon_tick), gpu_ns(input.horizon_gpu_ns) {}
  bool is_behind(uint64_t end_tick) const { return end_tick < tick; }
  bool gpu_is_behind(uint64_t start, uint64_t duration) const { return start < gpu_ns && duration <= gpu_ns - start; }
  uint64_t tick, gpu_ns;
};

}  // namespace prof::analyzer
