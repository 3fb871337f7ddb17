// What the report `counters` has a row for: kernels, graphs, ranges and what has no launch, by name, with the sums of their values.
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
  uint32_t paths = 1;          // different ones
  uint64_t count = 0, timed = 0;
  double time_ns = 0;
  std::vector<double> sums;       // by metric of the set
  std::vector<uint64_t> numbers;  // how many of these were numbers
  PeakSums peaks;
  double counted_flops = 0, nominal_flops = 0;  // of launches with both
  bool vector_only = false, tensor_only = false, tensor_unknown = false;
  StringId why{};  // it has no launch
};

// Throws std::runtime_error for a word of --group-by that is not name, op or launch.
std::vector<Measured> measured_rows(const AnalysisInput& input, const PeaksOfDevices& peaks);

}  // namespace prof::analyzer
