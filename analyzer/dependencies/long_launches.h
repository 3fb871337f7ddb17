// When did a launch call take so long that something held it? One rule for the depth report, the gap model and the dependency
// graph: it was entered with a full queue and took longer than five times the median launch call of its name.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

// A stream with so many operations outstanding when a launch is entered may be full. The drivers' limit is 1,024; what is reached
// is 1,021 to 1,023. Where several streams are deep at once the driver may stop at some 995 each: those launches do not count
// as held by the queue, since a stream of that depth is not full by itself.
inline constexpr uint32_t kQueueFullFrom = 1000;
inline constexpr int64_t kLongLaunchMedians = 5;

class LongLaunches {
 public:
  // `wanted`, by api: whose medians are asked for. O(launches).
  LongLaunches(const Trace& trace, const std::vector<bool>& wanted);
  // False for calls of other names.
  bool is_long(const HostEvent& event) const {
    return event.is_launch() && event.duration_ns() > limit_ns_[event.api()];
  }

 private:
  std::vector<int64_t> limit_ns_;  // by api
};

}  // namespace prof::analyzer
