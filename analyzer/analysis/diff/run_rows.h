// What GPU operations did one run have, by the properties that make two runs comparable? These are the place of the
// launch (operators and NVTX ranges), what ran (kernel, its class, grid and block, or the kind of copy) and the shapes.
// Only one model is in memory at a time, so two recordings can be compared that do not fit into memory together. Used
// by `prof diff`.
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
  std::vector<std::string> devices;  // names of the devices
  int64_t sum_ns = 0;                // of all durations: Σ of the rows
  int64_t busy_ns = 0;               // Σ over devices of the union of operations
  int64_t wall_ns = 0;               // first to last event, once per device with operations
};

// `with_peaks`: include FLOPs and bytes of the rows. O(n log n) for n operations.
RunWork run_rows(const AnalysisInput& input, std::string file, bool with_peaks);

}  // namespace prof::analyzer
