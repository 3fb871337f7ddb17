// Where is each kernel, operator or range below its device's roof? The report is `roofline`; the points are here for its picture
// and for tests.
#pragma once

#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/analysis/cost/peak_rates.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// What the time of a row cannot go below: its FLOPs at the peak, its bytes at the bandwidth, or what a kernel needs to begin and end: most
// of the row's time was taken by launches whose ideal time is below 2 µs and which took no more than 4 µs.
enum class RoofBound : uint8_t { Unknown, Compute, Memory, Launch };
std::string_view roof_bound_name(RoofBound bound);
RoofBound roof_bound(const PeakSums& sums);

struct RoofPoint {
  std::string name;
  uint32_t device = 0;  // DeviceId
  uint32_t number = 0;  // of its group in the estimates
  PeakSums sums;        // times of operators and ranges are unions of what ran for them, helpers too
  RoofBound bound = RoofBound::Unknown;
  std::optional<double> attainable_tera;  // the roof at its intensity
  std::optional<int64_t> lost_ns;         // time above the ideal, of what has an ideal or helps what has
  std::string note;                       // what the reader should know beside the numbers
};

// By lost time, the longest first, then by time; rows without an ideal time last.
struct Roofline {
  std::vector<RoofPoint> points;
  std::vector<PeakSums> outermost;  // of ranges, which are inside each other: each launch once, in its outermost row
  PeaksOfDevices peaks;
};

// `--group-by`: kernel (default), op, shape (operators by their shapes) or range (NVTX ranges and annotations, with what is inside them).
// Kernels also go to the estimates, whose rows are by work.
Roofline roofline(const AnalysisInput& input, Estimates& estimates);

}  // namespace prof::analyzer
