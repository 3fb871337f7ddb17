// When was a GPU idle, and when was it starved? Starved means idle with nothing waiting on any stream of the GPU. Also:
// the depth at a moment, and the intervals in which the queue ran empty after a peak. Used by op-idle and optimize.
// Definitions: docs/reports/op-idle.md. O(n log n) to construct, O(log n) per query.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/base/intervals.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace prof::analyzer {

class DeviceIdle {
 public:
  static constexpr uint32_t kPeakFrom = 4;  // a peak has at least this depth

  // The selected streams of one physical GPU; `inside`: the windows of the report.
  DeviceIdle(const AnalysisInput& input, DeviceId device, const std::vector<StreamId>& streams,
             const IntervalSet& inside);

  DeviceId device() const { return device_; }
  const IntervalSet& inside() const { return inside_; }
  const IntervalSet& idle() const { return idle_; }        // inside the windows
  const IntervalSet& starved() const { return starved_; }  // subset of idle
  // Waiting and outstanding operations at a moment, including those launched at that moment.
  DepthStep depth_at(int64_t time_ns) const;

  struct Fall {
    Interval time;  // from the last moment of the peak to the first moment with nothing waiting
    uint32_t peak = 0;
  };
  const std::vector<Fall>& falls() const { return falls_; }  // in order of time, disjoint

  // Whether this GPU concerns the ranges of a thread: the thread's process uses it or, if the trace has the GPU in a
  // process of its own, the process comes from the same file.
  bool serves(ThreadId thread) const { return serves_[index(thread)]; }

 private:
  void find_falls();
  void find_threads(const Trace& trace);

  DeviceId device_;
  const IntervalSet& inside_;
  IntervalSet idle_, starved_;
  std::vector<DepthStep> steps_;
  std::vector<Fall> falls_;
  std::vector<bool> serves_;
};

// One per GPU with selected operations.
std::vector<std::unique_ptr<DeviceIdle>> idle_of_devices(const AnalysisInput& input, const IntervalSet& inside);

// Whether a range counts as an op: operators, annotations and NVTX ranges do, Python functions and profiler overhead do
// not.
inline bool is_op(const Range& range) {
  return range.kind != RangeKind::Python && range.kind != RangeKind::Overhead && range.style != RangeStyle::Mark;
}

// By row: the time of a range without the ranges and calls inside it on its thread. For start/end ranges the whole
// time.
Column<int64_t> self_times(const Trace& trace);

// By row: the innermost range that encloses the range, itself included, whose text names a place in Python source
// ("file.py(12): f"). kNone if there is none.
Column<uint32_t> source_ranges(const Trace& trace);
bool names_source(std::string_view text);

}  // namespace prof::analyzer
