// Which windows of a report does a time overlap? Windows may overlap each other: steps of several processes. O(log n)
// and the windows found.
#pragma once

#include "analyzer/analysis/select/time_window.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace prof::analyzer {

class WindowFinder {
 public:
  // The windows must outlive this object.
  explicit WindowFinder(const std::vector<Window>& windows) : windows_(windows), order_(windows.size()) {
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    std::stable_sort(order_.begin(), order_.end(),
                     [&](size_t a, size_t b) { return windows[a].begin_ns < windows[b].begin_ns; });
    for (const size_t i : order_)
      latest_.push_back(std::max(windows[i].end_ns, latest_.empty() ? windows[i].end_ns : latest_.back()));
  }

  // From the first start to the last end. There must be a window.
  Interval hull() const { return {windows_[order_.front()].begin_ns, latest_.back()}; }

  // Calls visit(index of the window) for the windows that overlap [begin, end), by their start.
  template <class Visit> void each(int64_t begin_ns, int64_t end_ns, Visit&& visit) const {
    const auto first =
        std::partition_point(latest_.begin(), latest_.end(), [&](int64_t end) { return end <= begin_ns; });
    for (auto at = static_cast<size_t>(first - latest_.begin()); at < order_.size(); ++at) {
      const Window& window = windows_[order_[at]];
      if (window.begin_ns >= end_ns) return;
      if (window.end_ns > begin_ns) visit(order_[at]);
    }
  }

 private:
  const std::vector<Window>& windows_;
  std::vector<size_t> order_;    // by start
  std::vector<int64_t> latest_;  // the latest end up to that window in the order
};

}  // namespace prof::analyzer
