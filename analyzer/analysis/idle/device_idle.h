// When was a GPU idle, and when was it starved? Sets of time to ask for any range of a thread: idle, starved (idle and nothing
// waiting on any of its streams), the depth at a moment, and where the queue fell from a peak to nothing. For op-idle and
// optimize. Definitions: docs/reports/op-idle.md. O(n log n) to make, O(log n) to ask.
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
  static constexpr uint32_t kPeakFrom = 4;  // a queue that was never that deep does not fall

  // The selected streams of one physical GPU; `inside`: the windows of the report.
  DeviceIdle(const AnalysisInput& input, DeviceId device, const std::vector<StreamId>& streams,
             const IntervalSet& inside);

  DeviceId device() const { return device_; }
  const IntervalSet& inside() const { return inside_; }
  const IntervalSet& idle() const { return idle_; }        // inside the windows
  const IntervalSet& starved() const { return starved_; }  // part of idle
  // Waiting and outstanding operations at a moment, those launched at it counted.
  DepthStep depth_at(int64_t time_ns) const;

  struct Fall {
    Interval time;  // from the latest moment of the peak to the first moment with nothing waiting
    uint32_t peak = 0;
  };
  const std::vector<Fall>& falls() const { return falls_; }  // by time, disjoint

  // Whether the ranges of a thread are asked about this GPU: its process uses it, or, where a trace has the GPU in a process
  // of its own, comes from the same file.
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

// One for each GPU with selected operations.
std::vector<std::unique_ptr<DeviceIdle>> idle_of_devices(const AnalysisInput& input, const IntervalSet& inside);

// The ranges that count as ops: operators, annotations and NVTX ranges, not Python's functions nor the profiler's own work.
inline bool is_op(const Range& range) {
  return range.kind != RangeKind::Python && range.kind != RangeKind::Overhead && range.style != RangeStyle::Mark;
}

// Time of every range outside the ranges and calls inside it on its thread; of start/end ranges the whole. By row.
Column<int64_t> self_times(const Trace& trace);

// Row of the innermost range around each range, itself included, whose text names a place in Python source: "file.py(12): f".
// kNone where there is none. By row.
Column<uint32_t> source_ranges(const Trace& trace);
bool names_source(std::string_view text);

}  // namespace prof::analyzer
