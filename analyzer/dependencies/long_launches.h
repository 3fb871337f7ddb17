// When did a launch call take so long that something blocked it? The depth report, the gap model and the dependency
// graph use one rule: the launch began with a full queue and took longer than five times the median launch call of its
// name.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

// A stream with that many outstanding operations at the start of a launch may be full. The driver's limit is 1,024;
// measured maxima are 1,021 to 1,023. If several streams are deep at once, the driver may block at about 995 each. Such
// launches do not count as blocked by the queue, because a stream of that depth alone is not full.
inline constexpr uint32_t kQueueFullFrom = 1000;
inline constexpr int64_t kLongLaunchMedians = 5;

class LongLaunches {
 public:
  // `wanted`, by api: which medians are computed. O(launches).
  LongLaunches(const Trace& trace, const std::vector<bool>& wanted);
  // False for calls of other names.
  bool is_long(const HostEvent& event) const {
    return event.is_launch() && event.duration_ns() > limit_ns_[event.api()];
  }

 private:
  std::vector<int64_t> limit_ns_;  // by api
};

}  // namespace prof::analyzer
