// What changed between two sides of runs, by how much, and is it real? Rows of both sides are matched, each difference is split
// into launches and speed, and speed is tested. The verb is `prof diff`; docs/diff.md has the definitions.
#pragma once

#include "analyzer/analysis/diff/run_rows.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class Verdict : uint8_t {
  Same,  // no difference that is both real and large enough
  Slower,
  Faster,
  MoreWork,  // more launches of the same speed
  LessWork,
  Added,
  Vanished,
  Noise,    // large enough, but not told from chance by the test
  Untested  // large enough, but too few launches or runs to tell it from chance
};
std::string_view verdict_name(Verdict verdict);

// One side of a row, summed over the side's runs. Means over runs are of all runs, also of those without the row.
struct DiffSide {
  uint64_t launches = 0;
  int64_t total_ns = 0;
  double runs = 1;
  PeakSums sums;
  double launches_a_run() const { return static_cast<double>(launches) / runs; }
  double ns_a_run() const { return static_cast<double>(total_ns) / runs; }
  std::optional<double> mean_ns() const {
    return launches == 0 ? std::nullopt : std::optional(static_cast<double>(total_ns) / static_cast<double>(launches));
  }
};

struct DiffRow {
  std::string path, name, launch_shape, op_shape;  // "old -> new" where a kernel was replaced by another of its class
  DiffSide now, before;
  double delta_ns = 0;  // a run: now less before = count effect + speed effect
  double count_effect_ns = 0, speed_effect_ns = 0;
  std::optional<double> p, false_discovery;
  Verdict verdict = Verdict::Same;
  // Of the mean, where there is one on both sides.
  std::optional<double> speed_percent() const;
};

// A quantity of both sides, a run.
struct DiffTotal {
  std::string name;
  double now_ns = 0, before_ns = 0;
  double delta_ns() const { return now_ns - before_ns; }
};

struct DiffLimits {
  double false_discovery = 0.05;
  double of_row = 0.02;    // of the row's own time before
  double of_busy = 0.001;  // of the busy time before
};

struct RunDiff {
  std::vector<DiffRow> rows;      // by |Δ|, the largest first
  std::vector<DiffTotal> totals;  // kernels and copies, less their overlap is busy, and idle is wall
  std::vector<std::string> devices_now, devices_before;
  size_t runs_now = 0, runs_before = 0;
  bool between_runs = false;  // tested on medians of runs, else on launches of one run a side
};

// Runs are used up. With kFewestRuns and more a side medians of runs are tested, else launches, all runs of a side together.
RunDiff run_diff(std::vector<RunWork> now, std::vector<RunWork> before, const DiffLimits& limits = {});

}  // namespace prof::analyzer
