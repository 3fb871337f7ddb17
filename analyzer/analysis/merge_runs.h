// How to sort a list that consists of sorted runs, such as the operations of several streams one after another?
#pragma once

#include "analyzer/analysis/gpu_order.h"
#include "analyzer/base/parallel.h"
#include "analyzer/base/row_chunks.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace prof::analyzer {

// Returns the items ordered by key(item); items with equal keys keep their order. O(n log runs), on all cores:
// quantiles of the longest run's keys split every run, and each part between two of them is merged on its own. `key` is
// called by several threads.
template <class Item, class Key> std::vector<Item> merge_runs(std::vector<Item> items, Key&& key) {
  std::vector<Rows> runs;
  for (uint32_t at = 0; at < items.size(); ++at) {
    if (at == 0 || key(items[at]) < key(items[at - 1])) runs.push_back({at, at});
    runs.back().last = at + 1;
  }
  if (runs.size() < 2) return items;
  const auto key_at = [&](uint32_t at) { return key(items[at]); };
  const Rows longest = *std::max_element(runs.begin(), runs.end(), [](Rows a, Rows b) { return a.size() < b.size(); });
  const size_t in_part = rows_per_chunk(1 << 16);
  const size_t parts = std::clamp<size_t>(items.size() / in_part, 1, size_t{4} * worker_count());
  struct Part {
    std::vector<Rows> runs;
    size_t to = 0;
  };
  std::vector<Part> of_part(parts);
  for (size_t part = 0, to = 0; part < parts; ++part) {
    of_part[part].to = to;
    for (Rows& run : runs) {
      Rows cut{run.first, run.last};
      if (part + 1 < parts) {
        const auto pivot = key_at(longest.first + static_cast<uint32_t>(longest.size() * (part + 1) / parts));
        while (cut.first < cut.last) {  // the first row not before the pivot
          const uint32_t middle = cut.first + (cut.last - cut.first) / 2;
          if (key_at(middle) < pivot) {
            cut.first = middle + 1;
          } else {
            cut.last = middle;
          }
        }
        cut = {run.first, cut.first};
      }
      of_part[part].runs.push_back(cut);
      to += cut.size();
      run.first = cut.last;
    }
  }
  std::vector<Item> sorted(items.size());
  parallel_for(parts, [&](size_t part) {
    size_t to = of_part[part].to;
    merge_rows(of_part[part].runs, key_at, [&](uint32_t at) { sorted[to++] = items[at]; });
  });
  return sorted;
}

}  // namespace prof::analyzer
