// The queue depth and idle time of PyTorch's profiler heuristics (torch.profiler._utils), reproduced as published, defects and
// all, for `--definitions reference`: one depth over all streams, devices and threads, from the order of launches and kernels.
//
//   depth(t) = max(0, i − n + 1): i the index of the kernel that belongs to the latest launch at or before t, n how many
//   kernels have started. Launches find their kernel by the *operator* both belong to: the first kernel of that operator
//   that is not before the kernel found last. Launches are calls named cudaLaunchKernel…, kernels are operations whose name
//   has no "mem", "cpy", "alloc" or "free". idle: from the end of a point with depth 0 to the next point above 0.
//
// Known defects, all kept: docs/reports/definitions.md lists them. O(n log n).
#pragma once

#include "analyzer/analysis/views.h"
#include "analyzer/base/intervals.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

class ReferenceQueue {
 public:
  struct Point {  // a launch or a kernel
    int64_t start_ns = 0, end_ns = 0;
    uint32_t depth = 0;
  };

  ReferenceQueue(const Trace& trace, const Views& views);

  const std::vector<Point>& points() const { return points_; }  // by start
  // Depth when the range began; 0 for ranges that are no events of the heuristic (start/end ranges, the profiler's own).
  uint32_t depth_at(uint32_t range) const { return depth_of_range_[range]; }
  const IntervalSet& idle() const { return idle_; }
  // [start of the peak, start of the zero behind it], the latest first, as its loop finds them: past zeros that have no peak
  // of 4 before them it goes on searching, and behind a peak it leaves one zero out.
  std::vector<Interval> falling() const;

  static bool is_event(const Range& range) {
    return range.style == RangeStyle::PushPop && range.kind != RangeKind::Overhead;
  }

 private:
  std::vector<Point> points_;
  std::vector<uint32_t> depth_of_range_;
  IntervalSet idle_;
};

// How much of an event lies in the intervals, as the heuristic counts it: behind an interval that lies inside the one before
// it, it skips one more; behind a partial overlap it empties all that follow; and both change the list for later calls.
int64_t reference_overlap_ns(const Interval& event, std::vector<Interval>& intervals);

// The intervals that such a call counts, where no two overlap partially (none that the heuristic makes do: then calls change
// nothing, and a set answers for all events).
IntervalSet reference_counted(std::vector<Interval> intervals);

}  // namespace prof::analyzer
