// What changed between two sides of runs, by how much, and is the difference real? Rows of both sides are matched. Each
// difference is split into launches and speed, and speed is tested. Called by `prof diff`; docs/diff.md has the
// definitions.
#pragma once

#include "analyzer/analysis/diff/line_diff.h"
#include "analyzer/analysis/diff/run_rows.h"
#include "analyzer/analysis/two_samples.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class Verdict : uint8_t {
  Same,  // no difference that is both significant and large enough
  Slower,
  Faster,
  MoreWork,  // more launches at the same speed
  LessWork,
  Added,
  Vanished,
  Noise,    // large enough, but not significant
  Untested  // large enough, but too few steps, launches or runs for the test
};
std::string_view verdict_name(Verdict verdict);

// One side of a row, summed over the side's runs. Means over runs include runs without the row.
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
  std::string path, name, launch_shape, op_shape;  // "old -> new" if a kernel was replaced by another of its class
  DiffSide now, before;
  double delta_ns = 0;  // per run: now minus before = count effect + speed effect
  double count_effect_ns = 0, speed_effect_ns = 0;
  std::optional<double> p, false_discovery;
  // Mean now over mean before: the interval of this row alone, and the least ratio that holds for all rows together
  // (Bonferroni), of the means or of the ranks. Empty: not tested.
  std::optional<RatioInterval> ratio;
  std::optional<double> surely_ratio;
  Verdict verdict = Verdict::Same;
  // Change of the mean duration, if both sides have one.
  std::optional<double> speed_percent() const;
};

// A quantity of both sides, per run.
struct DiffTotal {
  std::string name;
  double now_ns = 0, before_ns = 0;
  std::optional<RatioInterval> ratio;  // now over before; empty: not tested
  double delta_ns() const { return now_ns - before_ns; }
};

struct DiffLimits {
  double false_discovery = 0.05;
  double of_row = 0.02;    // share of the row's own time before
  double of_busy = 0.001;  // share of the busy time before
};

struct RunDiff {
  std::vector<DiffRow> rows;      // by |Δ|, the largest first
  std::vector<DiffTotal> totals;  // operations minus overlap = busy; busy plus idle = wall
  std::vector<std::string> devices_now, devices_before;
  size_t runs_now = 0, runs_before = 0;
  bool between_runs = false;  // the test is on runs, else on steps or blocks of launches
  std::string steps;          // within one run: the ranges that are the steps, "step *"; empty: blocks of launches
  bool steps_differ = false;  // within one run: some runs have steps, and others have none, too few or different ones
  size_t parts_now = 0, parts_before = 0;  // within one run: repetitions that the totals are tested on
  std::vector<FoldedRanges> folded;        // of both sides
  // Of kernels with PC samples. The coverage of the samples is a line for each run that has some.
  std::vector<LineDiffRow> lines;
  std::vector<std::string> lines_coverage;
  std::optional<double> memory_now, memory_before;  // peak bytes, mean of the runs; empty: unknown for one of them
};

// Of a line: slower, faster, within noise, untested (with an effect that is large enough), or same.
Verdict line_verdict(const LineDiffRow& row, double busy_before_ns, const DiffLimits& limits = {});

// Intervals contain the true value with this confidence.
inline constexpr double kConfidence = 0.99;

// The runs are consumed. If each side has kFewestRuns or more runs, runs are compared with each other, else the
// LaunchBlocks of a side.
RunDiff run_diff(std::vector<RunWork> now, std::vector<RunWork> before, const DiffLimits& limits = {});

}  // namespace prof::analyzer
