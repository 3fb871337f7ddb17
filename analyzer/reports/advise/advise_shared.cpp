// The data of the whole input that the rules of advise need. It is computed once and queried for each window.
#include "analyzer/analysis/cost/occupancy.h"
#include "analyzer/reports/advise/advise_rules.h"

#include <algorithm>

namespace prof::analyzer {

AdviceShared::AdviceShared(const AnalysisInput& input, const std::vector<Window>& windows) : trace_(input.trace) {
  if (windows.empty()) return;
  Interval hull{windows.front().begin_ns, windows.front().end_ns};
  for (const Window& window : windows) {
    hull.begin_ns = std::min(hull.begin_ns, window.begin_ns);
    hull.end_ns = std::max(hull.end_ns, window.end_ns);
  }
  gaps_ = find_gaps(trace_, input.views, input.selection, hull);
  for (const Wait& wait : input.views.dependencies().of_operations) {
    if (wait.legacy != 0 && (ordered_by_legacy_.empty() || ordered_by_legacy_.back() != wait.waiter))
      ordered_by_legacy_.push_back(wait.waiter);
  }
  fills_.resize(trace_.devices.size());
  for (const Stream& stream : trace_.streams) {
    std::vector<double>& of_device = fills_[index(stream.device)];
    if (stream.operations.size() == 0 || !of_device.empty()) continue;
    for (const Kernel& kernel : trace_.kernels) {
      const auto fill = kernel_fill(trace_.device(stream.device), kernel);
      of_device.push_back(fill ? std::min(fill->blocks_per_sm, 1.0) : 1.0);
    }
  }
}

std::vector<Gap> AdviceShared::gaps(const Window& window) const {
  std::vector<Gap> found;
  for (size_t from = 0, to; from < gaps_.size(); from = to) {
    // Gaps of a device are disjoint and in order.
    const Gap* const first = gaps_.data() + from;
    const Gap* const last = std::partition_point(
        first, gaps_.data() + gaps_.size(), [&](const Gap& gap) { return index(gap.device) <= index(first->device); });
    to = static_cast<size_t>(last - gaps_.data());
    const Gap* const begin =
        std::partition_point(first, last, [&](const Gap& gap) { return gap.end_ns <= window.begin_ns; });
    const Gap* const end =
        std::partition_point(begin, last, [&](const Gap& gap) { return gap.begin_ns < window.end_ns; });
    found.insert(found.end(), begin, end);
  }
  return found;
}

void AdviceShared::enter(const Window& window) {
  if (cursors_.empty() || window.begin_ns < entered_until_ns_) {
    cursors_.clear();
    cursors_.resize(trace_.threads.size());
  }
  entered_until_ns_ = window.end_ns;
}

HostCursor& AdviceShared::cursor(ThreadId thread) {
  std::optional<HostCursor>& cursor = cursors_[index(thread)];
  if (!cursor) cursor.emplace(trace_, thread);
  return *cursor;
}

}  // namespace prof::analyzer
