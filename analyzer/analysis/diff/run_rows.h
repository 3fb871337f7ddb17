// What GPU operations did one run have, by the properties that make two runs comparable? These are the place of the
// launch (operators and NVTX ranges), what ran (kernel, its class, grid and block, or the kind of copy) and the shapes.
// Only one model is in memory at a time, so two recordings can be compared that do not fit into memory together. Used
// by `prof diff`.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/cost/peak_rates.h"
#include "analyzer/analysis/diff/run_lines.h"
#include "analyzer/model/range_counters.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prof::analyzer {

// Launches are not independent of each other: a test needs repetitions of the program's own work. Two launches with the
// same number are of the same step.
inline constexpr uint32_t kNoStep = UINT32_MAX;

struct RunRow {
  std::string path, category, name, launch_shape, op_shape;  // name: full; op_shape: "Input Dims"
  std::vector<int64_t> durations_ns;                         // in order of start
  std::vector<uint32_t> steps;  // by launch: number of its step, kNoStep outside; empty: the run has no steps
  PeakSums sums;
};

// Times of consecutive parts of a run: its steps, or parts with equally many operations. Together from the first step
// or operation to the last one.
struct RunPart {
  int64_t wall_ns = 0;  // once per device with operations
  int64_t busy_ns = 0;  // Σ over devices of the union of operations
};

struct RunWork {
  std::string file;
  std::vector<RunRow> rows;
  std::vector<RunPart> parts;        // in order of time
  std::string steps;                 // "step *": the parts are these ranges; empty: parts of equally many operations
  std::vector<FoldedRanges> folded;  // ranges that are one row although their names differ in a counter
  std::optional<int64_t> peak_memory_bytes;  // Σ over devices of the largest use; empty: not in the input
  std::vector<std::string> devices;          // names of the devices
  RunLines lines;                            // of kernels with PC samples
  int64_t sum_ns = 0;                        // of all durations: Σ of the rows
  int64_t busy_ns = 0;                       // Σ over devices of the union of operations
  int64_t wall_ns = 0;                       // first to last event, once per device with operations
};

// `with_peaks`: include FLOPs and bytes of the rows. O(n log n) for n operations.
RunWork run_rows(const AnalysisInput& input, std::string file, bool with_peaks);

}  // namespace prof::analyzer
