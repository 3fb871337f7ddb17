#include "analyzer/analysis/queue_full.h"

#include <algorithm>
#include <limits>

namespace prof::analyzer {

QueueFull::QueueFull(const Trace& trace, const Views& views) : trace_(trace), views_(views) {
  std::vector<bool> wanted(trace.apis.size());
  bool any = false;
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    if (trace.host[row].is_launch() && deep(row)) any = wanted[trace.host[row].api()] = true;
  }
  if (!any) return;
  std::vector<std::vector<int64_t>> durations(trace.apis.size());
  for (const HostEvent& event : trace.host) {
    if (event.is_launch() && wanted[event.api()]) durations[event.api()].push_back(event.duration_ns());
  }
  limit_ns_.assign(trace.apis.size(), std::numeric_limits<int64_t>::max());
  for (size_t api = 0; api < durations.size(); ++api) {
    std::vector<int64_t>& all = durations[api];
    if (all.empty()) continue;
    const auto middle = all.begin() + static_cast<ptrdiff_t>((all.size() - 1) / 2);
    std::nth_element(all.begin(), middle, all.end());
    // A median that no program lasts long enough for is damage; it must not overflow.
    limit_ns_[api] = std::clamp<int64_t>(*middle, 0, std::numeric_limits<int64_t>::max() / kLongFactor) * kLongFactor;
  }
}

}  // namespace prof::analyzer
