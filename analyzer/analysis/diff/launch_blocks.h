// Which repetitions of a row can a test compare within one run? Single launches depend on their neighbours, so launches
// are joined to blocks of whole steps, or of equally many consecutive launches. Used by run_diff.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace prof::analyzer {

inline constexpr size_t kFewestBlocks = 8, kMostBlocks = 32;

struct LaunchBlocks {
  std::vector<double> means, medians;  // of the durations of each block, in ns
};

// `durations` in order of start, `steps` by launch (RunRow::steps) or empty. Steps make the blocks if at least
// kFewestBlocks of them have launches and at most a tenth of the launches is outside all steps, which are then left
// out. Empty if there are fewer than kFewestBlocks blocks.
LaunchBlocks launch_blocks(std::span<const int64_t> durations, std::span<const uint32_t> steps);

}  // namespace prof::analyzer
