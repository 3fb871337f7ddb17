// A range as the GPU saw it: the operations whose launch was entered on the range's thread while it was open (--captured:
// what a CUDA graph runs belongs where it was captured). Of them the
// span from the first start to the last end, and the time a device was busy with them inside it. Used by the reports about
// NVTX ranges and annotations.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/model/event_tree.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

struct Projection {
  int64_t first_ns = 0, last_ns = 0;  // start of the first, end of the last operation
  int64_t busy_ns = 0;                // union of the operations, of all devices together
  int64_t sum_ns = 0;                 // their durations added
  uint32_t operations = 0;            // 0: everything else is 0 too
  int64_t span_ns() const { return time_between(first_ns, last_ns); }
};

// Of push/pop ranges, rows of Trace::ranges, in the order given; only selected operations count.
// O((operations + ranges) log operations), however deep ranges nest.
std::vector<Projection> project_ranges(const AnalysisInput& input, const std::vector<uint32_t>& ranges);

}  // namespace prof::analyzer
