// What waited for what, as far as a trace shows it? Host calls that returned after GPU operations had ended, GPU
// operations that started after operations of another stream, host threads that continued after another thread had
// finished. Every dependency has evidence (handles, values in memory, correlation ids, CUPTI's reports, or times inside
// a call that blocks) and agrees with the measured times. Dependencies that contradict the times are only counted.
// Orders that need no evidence (within a thread, within a stream, launch before operation) are not listed here. Used by
// dependency_graph.cpp. O(n log n).
#pragma once

#include "analyzer/base/intervals.h"
#include "analyzer/model/trace.h"

#include <limits>
#include <vector>

namespace prof::analyzer {

// `waiter` is a row of Trace::host (its return) or of Trace::operations (its start). It came after the end of the
// operation.
struct Wait {
  uint32_t waiter = 0;
  uint32_t operation = 0;
  uint32_t legacy = 0;  // 1: ordered only by the legacy default stream
};

// What `to` did from to_ns on waited for what `from` did until from_ns.
struct Handoff {
  ThreadId from{}, to{};
  int64_t from_ns = 0, to_ns = 0;
};

struct Dependencies {
  std::vector<Wait> of_calls;              // sorted by waiter
  std::vector<Wait> of_operations;         // sorted by waiter
  std::vector<uint32_t> blocked_launches;  // rows of launches that waited for a full queue; the waits are in of_calls
  std::vector<Handoff> handoffs;           // sorted by from_ns
  // Rows of operations whose stream waited for something that is not known, or that runs a function of the program
  // before them. Sorted.
  std::vector<uint32_t> unknown_operations;
  // By KernelId, from the caller: kernels that communicate with other GPUs. They wait for other GPUs. Empty: none.
  std::vector<bool> communication;
  uint64_t inferred = 0;      // waits inferred from times: the trace does not name what was awaited
  uint64_t contradicted = 0;  // dependencies that contradict the measured times
  uint64_t unknown = 0;       // waits of streams for something that a log does not show: docs/reports/critical-path.md

  // By thread: from the start of its first range to the last end of a range, without profiler overhead. Reversed: no
  // ranges.
  std::vector<Interval> ranges;

  explicit Dependencies(const Trace& trace);
  Dependencies() = default;

  Interval ranges_of(uint32_t thread) const { return thread < ranges.size() ? ranges[thread] : kNoRanges; }
  static constexpr Interval kNoRanges{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
};

// Threads that wait for each other without CUDA calls. Autograd's backward thread starts after its caller has finished
// the forward pass, and the caller continues after the backward thread has finished. Evidence: operators of the two
// threads share autograd's sequence numbers, the numbers name the other thread as forward thread, and the two are never
// active at the same time around the change.
std::vector<Handoff> find_handoffs(const Trace& trace);

}  // namespace prof::analyzer
