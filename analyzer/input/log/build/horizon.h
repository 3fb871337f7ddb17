// Which records in the log of a ring are left out? Offline, inside the builder only.
#pragma once

#include "analyzer/input/log/build/staging.h"

#include <cstdint>

namespace prof::analyzer {

// Records before the horizon of a ring remain only by chance: they are counted, but not shown. Events that cross the
// horizon start there.
struct Horizon {
  explicit Horizon(const LogInput& input) : tick(input.horizon_tick), gpu_ns(input.horizon_gpu_ns) {}
  bool is_behind(uint64_t end_tick) const { return end_tick < tick; }
  bool gpu_is_behind(uint64_t start, uint64_t duration) const { return start < gpu_ns && duration <= gpu_ns - start; }
  // CUPTI gives 0 for both stamps of an operation that it could not measure.
  static bool not_timed(uint64_t start, uint64_t duration) { return start == 0 && duration == 0; }
  uint64_t tick, gpu_ns;
};

}  // namespace prof::analyzer
