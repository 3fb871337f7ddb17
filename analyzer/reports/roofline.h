// How far is each kernel, operator or range below its device's roof? The report is `roofline`. The points are declared
// here for its picture and for tests.
#pragma once

#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/analysis/cost/peak_rates.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// What limits the time of a row from below: its FLOPs at the peak, its bytes at the bandwidth, or the fixed cost of a
// launch. Launch: most of the row's time is in launches with an ideal time below 2 µs that took at most 4 µs.
enum class RoofBound : uint8_t { Unknown, Compute, Memory, Launch };
std::string_view roof_bound_name(RoofBound bound);
RoofBound roof_bound(const PeakSums& sums);

struct RoofPoint {
  std::string name;
  uint32_t device = 0;  // DeviceId
  uint32_t number = 0;  // number of its group in the estimates
  PeakSums sums;        // for operators and ranges, times are unions of their operations and helpers
  RoofBound bound = RoofBound::Unknown;
  std::optional<double> attainable_tera;  // the roof at its intensity
  std::optional<int64_t> lost_ns;         // time above the ideal, of operations with an ideal and their helpers
  std::string note;                       // a remark about the numbers
};

// Points are sorted by lost time, then by time, both descending. Points without an ideal time are last.
struct Roofline {
  std::vector<RoofPoint> points;
  std::vector<PeakSums> outermost;  // of nested ranges: each launch counts once, in its outermost row
  PeaksOfDevices peaks;
};

// `--group-by`: kernel (default), op, shape (operators by their shapes) or range (NVTX ranges and annotations, with
// what is inside them). Kernels are also added to the estimates (RowsAre::ByWork).
Roofline roofline(const AnalysisInput& input, Estimates& estimates);

}  // namespace prof::analyzer
