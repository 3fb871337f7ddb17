// The GPU work of one run, by what makes two runs comparable: where in the program it was launched (operators and NVTX ranges),
// what ran (kernel and its class, grid and block, or kind of copy) and on which shapes. Made of one model at a time, so that two
// recordings that do not fit into memory together can be compared. Used by `prof diff`.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/cost/peak_rates.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prof::analyzer {

struct RunRow {
  std::string path, category, name, launch_shape, op_shape;  // name: full; op_shape: "Input Dims"
  std::vector<int64_t> durations_ns;
  PeakSums sums;
};

struct RunWork {
  std::string file;
  std::vector<RunRow> rows;
  std::vector<std::string> devices;  // their names
  int64_t sum_ns = 0;                // of all durations: Σ of the rows
  int64_t busy_ns = 0;               // Σ over devices of the union
  int64_t wall_ns = 0;               // first to last event, once for each device that ran anything
};

// `with_peaks`: FLOPs and bytes of the rows too. O(n log n) for n operations.
RunWork run_rows(const AnalysisInput& input, std::string file, bool with_peaks);

}  // namespace prof::analyzer
