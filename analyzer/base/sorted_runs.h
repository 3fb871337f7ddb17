// How are rows sorted that consist of sorted runs, such as one run per stream? O(n log runs).
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace prof::analyzer {

// `bounds`: where the runs begin, and the end of the last one.
template <class Rows, class Less = std::less<>>
void merge_sorted_runs(Rows& rows, std::vector<size_t> bounds, Less less = {}) {
  while (bounds.size() > 2) {
    std::vector<size_t> merged{0};
    for (size_t run = 0; run + 1 < bounds.size(); run += 2) {
      const size_t end = bounds[std::min(run + 2, bounds.size() - 1)];
      if (run + 2 < bounds.size())
        std::inplace_merge(rows.data() + bounds[run], rows.data() + bounds[run + 1], rows.data() + end, less);
      merged.push_back(end);
    }
    bounds = std::move(merged);
  }
}

}  // namespace prof::analyzer
