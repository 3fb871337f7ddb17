// The first half of correlate() (correlation.cpp): inside which launch was each driver or runtime call made that CUPTI
// recorded? Matched by containment in time, never by order. A tid may be reused by a later thread, so all threads that
// had it are tried. Times were rounded twice, so a call may appear up to 2 ns outside its launch.
#pragma once

#include "analyzer/input/log/build/correlation_table.h"
#include "analyzer/input/log/build/stages.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// Values of `row` for a driver call without a launch: the reason.
inline constexpr uint32_t kInsideOtherCall = UINT32_MAX - 1;
inline constexpr uint32_t kInsideNoCall = UINT32_MAX - 2;
inline constexpr uint32_t kInsideNoCallEarly = UINT32_MAX - 3;  // before the first record of the process
inline constexpr uint32_t kRepeatedId = UINT32_MAX - 4;
inline constexpr uint32_t kLastRow = UINT32_MAX - 5;

// The threads of a process by tid, and its first record.
struct ProcessThreads {
  std::unordered_map<uint32_t, std::vector<uint32_t>> of_tid;
  int64_t first_record_ns = INT64_MAX;
};

// By ProcessId. The rows of Trace::host must be sorted by time within each thread.
std::vector<ProcessThreads> threads_by_process(const Trace& trace);

// Joins driver calls to launches in all processes. The tables map correlation ids to rows. Frees the calls.
std::vector<CorrelationTable> join_calls(std::vector<ProcessCalls>& calls, const std::vector<ProcessThreads>& threads,
                                         Trace& trace, unsigned workers);

}  // namespace prof::analyzer
