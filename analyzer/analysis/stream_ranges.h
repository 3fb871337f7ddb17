// When did each stream run the operations of a range? From the start of the first to the end of the last operation on
// the stream whose launch began on the range's thread while the range was open. Used by the Chrome trace;
// range_projection.h joins all streams.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

struct StreamRange {
  int64_t start_ns = 0, end_ns = 0;
  uint32_t range = 0;   // row of Trace::ranges
  uint32_t stream = 0;  // row of Trace::streams
};

// For push/pop ranges of the program: NVTX, without library calls that the recorder recorded, and annotations. Ordered
// by stream, start, the longest first, then row, so that enclosing ranges come first. Memory beside the result: 4 bytes
// per call and operation. Time: O((calls + operations + ranges) * streams in a range) and sorting.
std::vector<StreamRange> ranges_on_streams(const Trace& trace);

}  // namespace prof::analyzer
