#include "analyzer/analysis/diff/launch_blocks.h"

#include "analyzer/analysis/diff/run_rows.h"
#include "analyzer/base/statistics.h"

#include <algorithm>
#include <map>

namespace prof::analyzer {

namespace {

void add_block(std::vector<int64_t>& durations, LaunchBlocks& to) {
  double sum = 0;
  for (const int64_t ns : durations) sum += static_cast<double>(ns);
  to.means.push_back(sum / static_cast<double>(durations.size()));
  to.medians.push_back(quantile(std::span(durations), 0.5));
}

// The durations by step; empty if too few launches are in steps, or these are too few.
std::vector<std::vector<int64_t>> by_step(std::span<const int64_t> durations, std::span<const uint32_t> steps) {
  std::map<uint32_t, std::vector<int64_t>> of_step;
  size_t outside = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] == kNoStep) {
      ++outside;
    } else {
      of_step[steps[i]].push_back(durations[i]);
    }
  }
  if (of_step.size() < kFewestBlocks || outside * 10 > durations.size()) return {};
  std::vector<std::vector<int64_t>> all;
  for (auto& [step, each] : of_step) all.push_back(std::move(each));
  return all;
}

}  // namespace

LaunchBlocks launch_blocks(std::span<const int64_t> durations, std::span<const uint32_t> steps) {
  LaunchBlocks blocks;
  std::vector<std::vector<int64_t>> parts = by_step(durations, steps);
  const size_t items = parts.empty() ? durations.size() : parts.size();
  if (items < kFewestBlocks) return blocks;
  const size_t count = std::min(items, kMostBlocks);
  std::vector<int64_t> block;
  for (size_t b = 0; b < count; ++b) {
    const size_t first = b * items / count, last = (b + 1) * items / count;
    block.clear();
    if (parts.empty()) {
      block.assign(durations.begin() + static_cast<ptrdiff_t>(first), durations.begin() + static_cast<ptrdiff_t>(last));
    } else {
      for (size_t i = first; i < last; ++i) block.insert(block.end(), parts[i].begin(), parts[i].end());
    }
    add_block(block, blocks);
  }
  return blocks;
}

}  // namespace prof::analyzer
