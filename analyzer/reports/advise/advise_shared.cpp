// The data of the whole input that the rules of advise need. It is computed once and queried for each window.
#include "analyzer/analysis/cost/occupancy.h"
#include "analyzer/reports/advise/advise_rules.h"

#include <algorithm>

namespace prof::analyzer {

AdviceShared::AdviceShared(const AnalysisInput& input, const std::vector<Window>& windows)
    : trace_(input.trace), host_idle_(std::make_unique<HostIdle>(input, windows, true)) {
  if (windows.empty()) return;
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
