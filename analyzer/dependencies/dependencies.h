// Which work waited for which, as far as a trace shows it: host calls that returned after GPU work had finished, GPU work
// that started after work of another stream, host threads that continued when another had finished. Every dependency has
// evidence (handles, words of memory, correlation ids, what CUPTI reported, or times inside a call that blocks) and agrees with the measured
// times; one that does not is counted and dropped. Orders that need no evidence (a thread's own, a stream's own, launch
// before operation) are not listed here. Used by dependency_graph.cpp. O(n log n).
#pragma once

#include "analyzer/base/intervals.h"
#include "analyzer/model/trace.h"

#include <limits>
#include <vector>

namespace prof::analyzer {

// `waiter` (a row of Trace::host: its return; a row of Trace::operations: its start) came after the end of the operation.
struct Wait {
  uint32_t waiter = 0;
  uint32_t operation = 0;
  uint32_t legacy = 0;  // 1: ordered by the legacy default stream alone
};

// What `to` did from to_ns on waited for what `from` had done until from_ns.
struct Handoff {
  ThreadId from{}, to{};
  int64_t from_ns = 0, to_ns = 0;
};

struct Dependencies {
  std::vector<Wait> of_calls;              // sorted by waiter
  std::vector<Wait> of_operations;         // sorted by waiter
  std::vector<uint32_t> blocked_launches;  // rows of launches that waited for a full queue; their wait is in of_calls
  std::vector<Handoff> handoffs;           // sorted by from_ns
  uint64_t inferred = 0;                   // waits found by time alone: the trace does not say what the call waited for
  uint64_t contradicted = 0;               // dependencies that the measured times deny
  uint64_t unknown = 0;  // streams made to wait for what a log does not say: see docs/reports/critical-path.md

  // By thread: from the begin of its first range to the last end of one, without the profiler's own; reversed: it has none.
  std::vector<Interval> ranges;

  explicit Dependencies(const Trace& trace);
  Dependencies() = default;

  Interval ranges_of(uint32_t thread) const { return thread < ranges.size() ? ranges[thread] : kNoRanges; }
  static constexpr Interval kNoRanges{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
};

// Threads that wait for each other without CUDA knowing: autograd's backward thread starts when its caller has finished the
// forward pass, and the caller continues when it has finished. Evidence: operators of the two threads share autograd's
// sequence numbers, the numbers name another forward thread, and the two are never active at once around the change.
std::vector<Handoff> find_handoffs(const Trace& trace);

}  // namespace prof::analyzer
