// What did launches cost, grouped by kernel or by API? The costs are the time in the launch call, the launch delay and
// the time on the GPU. Used by launch-stats and launch-apis. Definitions: docs/reports/launch-stats.md.
//
//   launch call  |<--- API --->|
//   GPU                         <- delay ->|<--- GPU --->|
//
//   delay = GPU start − end of the call, signed, never clipped
#pragma once

#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/analysis/stacks/stack_groups.h"
#include "analyzer/model/event_names.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace prof::analyzer {

inline constexpr int64_t kShortKernelNs = 10'000;

struct LaunchGroup {
  uint32_t number = 0;         // number of the group in the estimates
  std::string_view api, name;  // name: of the operation; empty in groups by API
  uint32_t stack = 0;          // group of the operation's stack
  uint64_t launches = 0;       // calls with an operation of the group; by API, a call is in one group only
  int64_t api_ns = 0, api_max_ns = 0;
  uint64_t operations = 0;
  int64_t gpu_ns = 0;
  std::vector<int64_t> delays_ns;  // one per operation
  uint64_t negative = 0;           // delays below 0: the GPU started before the call returned
  uint64_t shorts = 0;             // kernels below 10 us that are shorter than their launch call
  uint64_t kernels = 0;
  int64_t short_api_ns = 0;  // time of the launch calls of these kernels
};

enum class LaunchesBy { Kernel, Api };

// Groups the linked operations of the selection that overlap its window. The longest GPU time is first, then order of
// name. An operation of a graph has the delay of the graph's launch. The time of the call counts once, for the first
// operation of the graph. Operations are also added to the estimates (RowsAre::ByWork).
std::vector<LaunchGroup> launch_groups(const AnalysisInput& input, const EventNames& names, LaunchesBy by,
                                       StackGroups& stacks, Estimates* estimates = nullptr);

// The delays of all groups: "launch delay of 834 operations: min …, median …, max …, sum …, below zero 9".
std::string launch_delay_note(const std::vector<LaunchGroup>& groups);

// Calls visit(operation, launch) for everything that launch_groups() counts.
template <class Visit> void for_each_launched(const AnalysisInput& input, Visit&& visit) {
  const Trace& trace = input.trace;
  for (const Stream& stream : trace.streams) {
    if (stream.operations.size() == 0 || !input.selection.has_stream(trace, stream)) continue;
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
      const GpuOperation& operation = trace.operations[row];
      if (!operation.linked() || !input.selection.nvtx.has_operation(row)) continue;
      if (!input.selection.in_window(operation.start_ns, operation.end_ns)) continue;
      const HostEvent& launch = trace.host[operation.launch];
      if (input.selection.has_thread(trace.thread(launch.thread))) visit(operation, launch);
    }
  }
}

}  // namespace prof::analyzer
