// How much of many intervals lies in each of some windows? Every interval counts on its own (a sum, not a union), and
// windows may overlap. O(log windows) per interval; memory is proportional to the number of windows. IntervalSet
// computes unions instead.
#pragma once

#include "analyzer/analysis/select/time_window.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace prof::analyzer {

class WindowSums {
 public:
  struct Sum {
    uint64_t count = 0;  // intervals that overlap the window; an empty one counts where it begins
    int64_t ns = 0;
  };

  explicit WindowSums(const std::vector<Window>& windows) {
    for (const Window& window : windows) {
      edges_.push_back(window.begin_ns);
      edges_.push_back(window.end_ns);
    }
    std::sort(edges_.begin(), edges_.end());
    edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
    steps_.resize(edges_.size() + 1);
  }

  void add(int64_t begin_ns, int64_t end_ns) {
    end_ns = std::max(begin_ns, end_ns);
    Step& first = steps_[first_after(begin_ns)];
    ++first.begun;
    first.begins += static_cast<uint64_t>(begin_ns);
    const auto at = std::lower_bound(edges_.begin(), edges_.end(), end_ns);
    Step& last = steps_[static_cast<size_t>(at - edges_.begin())];
    ++last.ended;
    last.ends += static_cast<uint64_t>(end_ns);
    ++steps_[begin_ns == end_ns ? first_after(end_ns) : static_cast<size_t>(at - edges_.begin())].over;
  }

  // Must not be called before the last add().
  Sum in(const Window& window) const {
    const Step begin = until(window.begin_ns), end = until(window.end_ns);
    // Sums of moments may wrap, but their differences are correct.
    const auto covered = [](const Step& s, int64_t at) {
      return (s.begun - s.ended) * static_cast<uint64_t>(at) - s.begins + s.ends;
    };
    return {end.begun - begin.over,
            static_cast<int64_t>(covered(end, window.end_ns) - covered(begin, window.begin_ns))};
  }

 private:
  struct Step {
    uint64_t begun = 0, ended = 0, over = 0, begins = 0, ends = 0;
  };

  size_t first_after(int64_t time_ns) const {
    return static_cast<size_t>(std::upper_bound(edges_.begin(), edges_.end(), time_ns) - edges_.begin());
  }
  // Totals of the intervals that began before, or ended at or before, an edge.
  Step until(int64_t edge_ns) const {
    if (sums_.empty()) {
      sums_ = steps_;
      for (size_t i = 1; i < sums_.size(); ++i) {
        sums_[i].begun += sums_[i - 1].begun;
        sums_[i].ended += sums_[i - 1].ended;
        sums_[i].over += sums_[i - 1].over;
        sums_[i].begins += sums_[i - 1].begins;
        sums_[i].ends += sums_[i - 1].ends;
      }
    }
    return sums_[static_cast<size_t>(std::lower_bound(edges_.begin(), edges_.end(), edge_ns) - edges_.begin())];
  }

  std::vector<int64_t> edges_;
  std::vector<Step> steps_;         // between edges; the last is after all of them
  mutable std::vector<Step> sums_;  // prefix sums of steps 0 … i
};

}  // namespace prof::analyzer
