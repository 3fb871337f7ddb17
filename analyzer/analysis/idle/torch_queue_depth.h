// What queue depth and idle time do PyTorch's profiler heuristics (torch.profiler._utils) compute? Reproduced as
// published, including their defects, for `--definitions reference`: one depth for all streams, devices and threads,
// from the order of launches and kernels.
//
//   depth(t) = max(0, i − n + 1): i is the index of the kernel of the latest launch at or before t, n the number of
//   kernels that have started. A launch and a kernel are matched by the *operator* that both belong to: it is the first
//   kernel of that operator that is not before the kernel found last. Launches are calls named cudaLaunchKernel…,
//   kernels are operations whose name has no "mem", "cpy", "alloc" or "free". idle: from the end of a point with
//   depth 0 to the next point above 0.
//
// Known defects are kept; docs/reports/definitions.md lists them. O(n log n).
#pragma once

#include "analyzer/analysis/views.h"
#include "analyzer/base/intervals.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

class TorchQueueDepth {
 public:
  struct Point {  // a launch or a kernel
    int64_t start_ns = 0, end_ns = 0;
    uint32_t depth = 0;
  };

  TorchQueueDepth(const Trace& trace, const Views& views);

  const std::vector<Point>& points() const { return points_; }  // by start
  // Depth at the start of the range; 0 for ranges that the heuristic does not count (start/end ranges, profiler
  // overhead).
  uint32_t depth_at(uint32_t range) const { return depth_of_range_[range]; }
  const IntervalSet& idle() const { return idle_; }
  // [start of the peak, start of the zero after it], the latest first, in the order of the heuristic's loop. The loop
  // passes over zeros that have no peak of at least 4 before them, and leaves out one zero after a peak.
  std::vector<Interval> falling() const;

  static bool is_event(const Range& range) {
    return range.style == RangeStyle::PushPop && range.kind != RangeKind::Overhead;
  }

 private:
  std::vector<Point> points_;
  std::vector<uint32_t> depth_of_range_;
  IntervalSet idle_;
};

// The time of an event inside the intervals, as the heuristic counts it. After an interval inside the previous one, it
// skips one more interval. After a partial overlap, it moves the start of the later interval. It changes the list that
// later calls use.
int64_t reference_overlap_ns(const Interval& event, std::vector<Interval>& intervals);

// The intervals that such a call counts if no two overlap partially. Those of the heuristic never do, so calls do not
// change the list, and one set is valid for all events.
IntervalSet reference_counted(std::vector<Interval> intervals);

}  // namespace prof::analyzer
