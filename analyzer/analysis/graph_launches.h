// What do the reports about CUDA graphs share? Ranges around a call, kernel names of nodes that never ran, and counts
// by origin.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/model/graph_origins.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace prof::analyzer {

// The chain of ranges around a call. The calls of a thread may be queried in any order.
class PathsOfCalls {
 public:
  explicit PathsOfCalls(const Trace& trace) : trace_(trace) {}
  PathId of(uint32_t call);  // row of Trace::host
  std::string text(uint32_t call) { return path_text(trace_, of(call)); }

 private:
  const Trace& trace_;
  std::unordered_map<uint32_t, PathCursor> cursors_;  // by ThreadId
};

// The kernel that a node would launch; empty: the node is no kernel, or its kernel is unknown.
std::string_view node_kernel_name(const AnalysisInput& input, uint32_t row);

// The call that an operation belongs to: its launch. With `captured`, the call that captured or added the node of an
// operation of a graph, if that call is known. kNone: no call.
uint32_t call_of(const Trace& trace, const Views& views, const GpuOperation& operation, bool captured);

// "operations of graphs 1500: captured or added by a known call 1480, captured before recording 20". Indexed by
// NodeOrigin.
std::string origin_note(const std::array<uint64_t, 6>& by_origin);

}  // namespace prof::analyzer
