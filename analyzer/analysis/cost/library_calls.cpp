#include "analyzer/analysis/cost/library_calls.h"

#include "analyzer/analysis/cost/library_cost.h"

#include <algorithm>

namespace prof::analyzer {

LibraryCalls::LibraryCalls(const Trace& trace)
    : trace_(trace), of_library_(trace.labels.size()), calls_(trace.threads.size()) {
  std::vector<bool> has_cost(trace.labels.size());
  for (size_t label = 0; label < trace.labels.size(); ++label) {
    if (trace.text(trace.labels[label].domain) != "library") continue;
    of_library_[label] = true;
    const std::optional<LibraryCost> found = library_cost(trace.text(trace.labels[label].text));
    has_cost[label] = found && found->cost.known;
    any_ = any_ || has_cost[label];
  }
  if (!any_) return;
  for (size_t thread = 0; thread < trace.threads.size(); ++thread) {
    const Rows rows = trace.threads[thread].ranges;
    for (uint32_t row = rows.first; row < rows.last; ++row) {
      const Range& range = trace.ranges[row];
      if (!has_cost[index(range.label)]) continue;
      if (calls_[thread].empty() || range.begin_ns >= trace.ranges[calls_[thread].back()].end_ns)
        calls_[thread].push_back(row);
    }
  }
}

uint32_t LibraryCalls::around(ThreadId thread, int64_t time_ns) const {
  const std::vector<uint32_t>& calls = calls_[index(thread)];
  const auto next = std::upper_bound(calls.begin(), calls.end(), time_ns,
                                     [&](int64_t time, uint32_t row) { return time < trace_.ranges[row].begin_ns; });
  return next != calls.begin() && time_ns < trace_.ranges[next[-1]].end_ns ? next[-1] : kNone;
}

void LibraryCalls::mark_around(const std::vector<bool>& calls, std::vector<bool>& encloses) const {
  for (size_t thread = 0; thread < calls_.size(); ++thread) {
    if (calls_[thread].empty()) continue;
    std::vector<uint32_t> open;
    const Rows rows = trace_.threads[thread].ranges;
    for (uint32_t row = rows.first; row < rows.last; ++row) {
      const int64_t begin_ns = trace_.ranges[row].begin_ns;
      open.erase(std::remove_if(open.begin(), open.end(),
                                [&](uint32_t each) { return trace_.ranges[each].end_ns <= begin_ns; }),
                 open.end());
      if (calls[row]) {
        for (const uint32_t each : open) encloses[each] = true;
      }
      open.push_back(row);
    }
  }
}

}  // namespace prof::analyzer
