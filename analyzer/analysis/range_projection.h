// When did the GPU run the operations of a range? These are the operations whose launch began on the range's thread
// while the range was open. With --captured, operations of a CUDA graph belong to the range in which they were
// captured. The projection has the span from the first start to the last end, and the time in it in which a device was
// busy with them. Used by the reports about NVTX ranges and annotations.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/model/event_tree.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

struct Projection {
  int64_t first_ns = 0, last_ns = 0;  // start of the first, end of the last operation
  int64_t busy_ns = 0;                // union of the operations of all devices
  int64_t sum_ns = 0;                 // sum of their durations
  uint32_t operations = 0;            // 0: all other numbers are 0 too
  int64_t span_ns() const { return time_between(first_ns, last_ns); }
};

// `ranges`: rows of Trace::ranges that are push/pop ranges; results are in the same order. Only selected operations
// count. O((operations + ranges) log operations) for any nesting depth.
std::vector<Projection> project_ranges(const AnalysisInput& input, const std::vector<uint32_t>& ranges);

}  // namespace prof::analyzer
