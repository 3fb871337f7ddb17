// Sorting data that consists of sorted runs, on all cores.
#include "analyzer/analysis/merge_runs.h"
#include "analyzer/base/row_chunks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace prof::analyzer {
namespace {

using Item = std::pair<int64_t, uint32_t>;  // key, origin

// The keys of each run grow by steps of 0 to `step`: many keys are equal, within a run and between runs.
std::vector<Item> runs_of(const std::vector<uint32_t>& lengths, int64_t step, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Item> items;
  for (const uint32_t length : lengths) {
    int64_t key = static_cast<int64_t>(random() % 1000);
    for (uint32_t i = 0; i < length; ++i) {
      items.emplace_back(key, static_cast<uint32_t>(items.size()));
      key += static_cast<int64_t>(random() % static_cast<uint32_t>(step + 1));
    }
  }
  return items;
}

TEST(MergeRuns, IsAStableSortOfRunsOfAnyLength) {
  const std::vector<std::vector<uint32_t>> cases{
      {}, {1}, {1, 1, 1}, {5, 0, 3}, {300'000}, {200'000, 200'000}, {1, 400'000, 7}, {90'000, 3, 150'000, 60'000, 1}};
  for (const std::vector<uint32_t>& lengths : cases) {
    for (const int64_t step : {int64_t{0}, int64_t{1}, int64_t{1000}}) {
      const std::vector<Item> items = runs_of(lengths, step, 7);
      std::vector<Item> expected = items;
      std::stable_sort(expected.begin(), expected.end(),
                       [](const Item& a, const Item& b) { return a.first < b.first; });
      EXPECT_EQ(merge_runs(items, [](const Item& item) { return item.first; }), expected)
          << lengths.size() << " runs, steps up to " << step;
    }
  }
}

TEST(MergeRuns, IsAStableSortInPartsOfAnySize) {
  for (size_t rows = 1; rows <= 9; ++rows) {
    const RowsPerChunk size(rows);
    for (uint32_t seed = 0; seed < 50; ++seed) {
      const std::vector<Item> items = runs_of({seed % 7, 5, 1, 12, seed % 3}, 1 + seed % 4, seed);
      std::vector<Item> expected = items;
      std::stable_sort(expected.begin(), expected.end(),
                       [](const Item& a, const Item& b) { return a.first < b.first; });
      EXPECT_EQ(merge_runs(items, [](const Item& item) { return item.first; }), expected) << rows << ", " << seed;
    }
  }
}

}  // namespace
}  // namespace prof::analyzer
