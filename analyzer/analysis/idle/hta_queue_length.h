// What is the queue length of Holistic Trace Analysis? Over operations whose launch is known: +1 when the launch call
// begins and −1 when the operation starts on the GPU, summed in order of time; at equal moments +1 comes first. The
// length is signed: an operation that starts before its launch makes it negative. It is a step series; HTA's statistics
// are not weighted by time. HTA itself knows launches by their names: `rules`. O(n log n).
#pragma once

#include "analyzer/analysis/hta_rules.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace prof::analyzer {

struct HtaQueueLength {
  struct Step {
    int64_t time_ns = 0;
    int64_t length = 0;  // from this step to the next
  };
  std::vector<Step> steps;

  uint64_t left_out = 0;  // operations that do not count: no launch in the input, or one that `rules` does not know

  // Operations count on the stream on which they ran. Without `rules`, every operation with a known launch counts.
  HtaQueueLength(const Trace& trace, const std::vector<StreamId>& streams, const HtaRules* rules = nullptr) {
    std::vector<std::pair<int64_t, int>> changes;  // (time, 0: one more, 1: one less)
    for (const StreamId stream : streams) {
      const Rows rows = trace.stream(stream).operations;
      for (uint32_t row = rows.first; row < rows.last; ++row) {
        const GpuOperation& operation = trace.operations[row];
        if (!operation.linked() || (rules != nullptr && !rules->in_queue_length(operation))) {
          ++left_out;
          continue;
        }
        changes.emplace_back(trace.host[operation.launch].begin_ns, 0);
        changes.emplace_back(operation.start_ns, 1);
      }
    }
    std::sort(changes.begin(), changes.end());
    steps.reserve(changes.size());
    int64_t length = 0;
    for (const auto& [time_ns, less] : changes) steps.push_back({time_ns, length += less == 1 ? -1 : 1});
  }

  int64_t most() const {  // 0 if there is no step
    int64_t most = 0;
    for (const Step& step : steps) most = std::max(most, step.length);
    return most;
  }
  int64_t least() const {
    int64_t least = 0;
    for (const Step& step : steps) least = std::min(least, step.length);
    return least;
  }
  int64_t last() const { return steps.empty() ? 0 : steps.back().length; }
  // Mean weighted by time from the first step to the last; 0 if that time is 0.
  double weighted_mean() const {
    double sum = 0, time = 0;
    for (size_t i = 1; i < steps.size(); ++i) {
      const auto held = static_cast<double>(steps[i].time_ns - steps[i - 1].time_ns);
      sum += static_cast<double>(steps[i - 1].length) * held;
      time += held;
    }
    return time > 0 ? sum / time : 0;
  }
};

}  // namespace prof::analyzer
