// Offline, inside the builder only: the steps after decoding, in the order in which build_trace() calls them.
#pragma once

#include "analyzer/model/staging.h"

#include <vector>

namespace prof::analyzer {

// Keeps where in the clock's map it was last. One per task.
struct ClockReader {
  const LogClock& clock;
  LogClock::Hint tick_hint = 0, gpu_hint = 0;
  int64_t tick(uint64_t tick) { return static_cast<int64_t>(clock.ns(tick, tick_hint)); }
  int64_t gpu(uint64_t cupti_ns) { return static_cast<int64_t>(clock.gpu_ns(cupti_ns, gpu_hint)); }
};

// A driver call as CUPTI saw it, on the model's time line. tid 0: an external call, whose time is the launch's begin.
struct DriverCall {
  int64_t time_ns = 0;
  uint32_t correlation = 0;
  uint32_t tid = 0;
};

// Moves staged rows to their places: host events by thread, GPU operations by stream, both sorted, times in ns.
// Frees what it has moved; NVTX rows stay staged. `calls` gets one column per input.
void place_events(std::vector<LogInput>& inputs, std::vector<Staged>& staged, Trace& trace,
                  std::vector<Column<DriverCall>>& calls, unsigned workers);

// Pairs pushes with pops and starts with ends, builds the tree of paths and each thread's path changes. Frees staged rows.
void nest_nvtx(const std::vector<LogInput>& inputs, std::vector<Staged>& staged, Trace& trace);

// Joins driver calls to launches by containment, GPU operations to launches by correlation id, and fills each process's
// Coverage. `calls` is freed.
void correlate(std::vector<Column<DriverCall>>& calls, Trace& trace, unsigned workers);

}  // namespace prof::analyzer
