// Sorts what consists of runs that are in order already, as the operations of one stream after those of another are.
#pragma once

#include "analyzer/analysis/gpu_order.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace prof::analyzer {

// The items by key(item), equal ones as they come. O(n log runs).
template <class Item, class Key> std::vector<Item> merge_runs(std::vector<Item> items, Key&& key) {
  std::vector<Rows> runs;
  for (uint32_t at = 0; at < items.size(); ++at) {
    if (at == 0 || key(items[at]) < key(items[at - 1])) runs.push_back({at, at});
    runs.back().last = at + 1;
  }
  if (runs.size() < 2) return items;
  std::vector<Item> sorted;
  sorted.reserve(items.size());
  merge_rows(
      std::move(runs), [&](uint32_t at) { return key(items[at]); }, [&](uint32_t at) { sorted.push_back(items[at]); });
  return sorted;
}

}  // namespace prof::analyzer
