// In the builder, the first half of correlate() (correlation.cpp): which launch was each driver or runtime call that CUPTI recorded
// made in? By containment in time, never by order. A tid may be reused by a later thread: all threads that had it are tried. Times
// went through two roundings, so a call may seem to lie up to 2 ns outside of its launch.
#pragma once

#include "analyzer/input/log/build/correlation_table.h"
#include "analyzer/input/log/build/stages.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// Instead of a launch's row: what is known of a driver call without one.
inline constexpr uint32_t kInsideOtherCall = UINT32_MAX - 1;
inline constexpr uint32_t kInsideNoCall = UINT32_MAX - 2;
inline constexpr uint32_t kInsideNoCallEarly = UINT32_MAX - 3;  // before the first record of the process
inline constexpr uint32_t kRepeatedId = UINT32_MAX - 4;
inline constexpr uint32_t kLastRow = UINT32_MAX - 5;

// Which threads of a process had which tid, and when it began.
struct ProcessThreads {
  std::unordered_map<uint32_t, std::vector<uint32_t>> of_tid;
  int64_t first_record_ns = INT64_MAX;
};

// By ProcessId. The rows of Trace::host are sorted by time within each thread.
std::vector<ProcessThreads> threads_by_process(const Trace& trace);

// Driver calls -> launches, in all processes; the tables then lead from correlation ids to rows. Frees the calls.
std::vector<CorrelationTable> join_calls(std::vector<ProcessCalls>& calls, const std::vector<ProcessThreads>& threads,
                                         Trace& trace, unsigned workers);

}  // namespace prof::analyzer
