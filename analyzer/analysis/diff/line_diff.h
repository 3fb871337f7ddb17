// Which source lines inside kernels take longer or shorter than before, and is the difference real? Rows are lines of
// kernels that have PC samples on both sides of runs. Called by run_diff(); docs/diff.md has the definitions.
#pragma once

#include "analyzer/analysis/diff/run_lines.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace prof::analyzer {

// One side of a line, as means over its runs.
struct LineSide {
  uint64_t samples = 0;           // of all runs
  double ns_a_run = 0;            // estimated GPU time
  std::optional<double> mean_ns;  // in one launch of the kernel; empty: the kernel has no samples
  // What the test compares: a value for each run, or for each block of all runs.
  std::vector<double> repetitions;
};

struct LineDiffRow {
  std::string kernel, function, place;
  LineSide now, before;
  double launches_a_run = 0;  // of the kernel, now
  std::optional<double> p, false_discovery;

  // What the change of the time in one launch costs a run now, in ns. 0: the kernel has no samples on one side.
  double effect_ns() const {
    return now.mean_ns && before.mean_ns ? (*now.mean_ns - *before.mean_ns) * launches_a_run : 0;
  }
};

// `now` and `before`: the lines of each run. A line that only one side has took no time on the other one, if the kernel
// has samples there. By |effect_ns()|, the largest first.
std::vector<LineDiffRow> line_diff(std::span<const std::vector<RunLine>> now,
                                   std::span<const std::vector<RunLine>> before, bool between_runs);

}  // namespace prof::analyzer
