// What are the rows of the report `counters`? Kernels, graphs, ranges and work without a launch, by name, with sums of
// their hardware counters.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/cost/peak_rates.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prof::analyzer {

struct Measured {
  const char* what = "";
  uint32_t process = 0, device = kNone;  // ProcessId, DeviceId; kNone: not known
  uint32_t set = 0;
  std::string name;
  std::vector<StringId> path;  // names of the ranges around it, the outermost first
  uint32_t paths = 1;          // number of different paths
  uint64_t count = 0, timed = 0;
  double time_ns = 0;
  std::vector<double> sums;       // by metric of the set
  std::vector<uint64_t> numbers;  // by metric: how many values are finite numbers
  PeakSums peaks;
  double counted_flops = 0, nominal_flops = 0;  // of launches that have both
  bool vector_only = false, tensor_only = false, tensor_unknown = false;
  StringId why{};  // reason why there is no launch
};

// Throws std::runtime_error for a word of --group-by that is not name, op or launch.
std::vector<Measured> measured_rows(const AnalysisInput& input, const PeaksOfDevices& peaks);

}  // namespace prof::analyzer
