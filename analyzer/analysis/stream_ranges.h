// A range as each stream saw it: from the start of the first to the end of the last operation on that stream whose launch was entered
// on the range's thread while it was open. For the Chrome trace; reports ask range_projection.h, which takes all streams together.
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

// Of push/pop ranges that the program made for itself: NVTX, but calls of libraries that the recorder saw, and annotations. By stream,
// then start, the longest first, then row: so that of several ranges those around others come first. Beside the answer 4 bytes a
// call and an operation; O((calls + operations + ranges) * streams in a range) and the sorting.
std::vector<StreamRange> ranges_on_streams(const Trace& trace);

}  // namespace prof::analyzer
