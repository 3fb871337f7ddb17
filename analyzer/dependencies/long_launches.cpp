#include "analyzer/dependencies/long_launches.h"

#include <algorithm>
#include <limits>

namespace prof::analyzer {

LongLaunches::LongLaunches(const Trace& trace, const std::vector<bool>& wanted)
    : limit_ns_(trace.apis.size(), std::numeric_limits<int64_t>::max()) {
  std::vector<std::vector<int64_t>> durations(trace.apis.size());
  for (const HostEvent& event : trace.host) {
    if (event.is_launch() && wanted[event.api()]) durations[event.api()].push_back(event.duration_ns());
  }
  for (size_t api = 0; api < durations.size(); ++api) {
    std::vector<int64_t>& all = durations[api];
    if (all.empty()) continue;
    const auto middle = all.begin() + static_cast<ptrdiff_t>((all.size() - 1) / 2);
    std::nth_element(all.begin(), middle, all.end());
    // Limits the median: a huge median comes from a damaged trace and would overflow.
    limit_ns_[api] =
        std::clamp<int64_t>(*middle, 0, std::numeric_limits<int64_t>::max() / kLongLaunchMedians) * kLongLaunchMedians;
  }
}

}  // namespace prof::analyzer
