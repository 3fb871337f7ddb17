#include "analyzer/input/open_ranges.h"

#include <vector>

namespace prof::analyzer {

namespace {

// Traces with times in microseconds round start and duration, so that a call may seem to end after its caller.
constexpr int64_t kRoundingNs = 2000;

// The ends of the ranges that are open at increasing times.
class OpenRanges {
 public:
  // The end of the innermost open range; INT64_MAX if none is open.
  int64_t innermost_end(int64_t now_ns) {
    while (!ends_.empty() && ends_.back() <= now_ns) ends_.pop_back();
    return ends_.empty() ? INT64_MAX : ends_.back();
  }
  void open(int64_t end_ns) { ends_.push_back(end_ns); }

 private:
  std::vector<int64_t> ends_;
};

}  // namespace

uint64_t close_open_ranges(Trace& trace, Rows rows) {
  uint64_t closed = 0;
  OpenRanges functions, all;
  for (uint32_t row = rows.first; row < rows.last; ++row) {
    Range& range = trace.ranges[row];
    const bool function = range.kind == RangeKind::Python;
    const int64_t caller_end_ns = function ? functions.innermost_end(range.begin_ns) : INT64_MAX;
    const int64_t outer_end_ns = all.innermost_end(range.begin_ns);
    int64_t latest_ns = INT64_MAX;
    // NVTX ranges of two domains are independent of each other.
    if (range.unfinished && range.kind != RangeKind::Nvtx) latest_ns = outer_end_ns;
    if (function && caller_end_ns < INT64_MAX - kRoundingNs && range.end_ns > caller_end_ns + kRoundingNs)
      latest_ns = caller_end_ns;
    if (range.end_ns > latest_ns) {
      range.end_ns = latest_ns;
      range.unfinished = range.closed_early = true;
      ++closed;
    }
    if (function) functions.open(range.end_ns);
    all.open(range.end_ns);
  }
  return closed;
}

}  // namespace prof::analyzer
