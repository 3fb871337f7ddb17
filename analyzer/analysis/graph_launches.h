// What the reports about CUDA graphs share: the ranges around a call, names of nodes that never ran, how much is attributed.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/model/graph_origins.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace prof::analyzer {

// The chain of ranges that a call was made in. Calls of one thread are asked about in any order.
class PathsOfCalls {
 public:
  explicit PathsOfCalls(const Trace& trace) : trace_(trace) {}
  PathId of(uint32_t call);  // row of Trace::host
  std::string text(uint32_t call) { return path_text(trace_, of(call)); }

 private:
  const Trace& trace_;
  std::unordered_map<uint32_t, PathCursor> cursors_;  // by ThreadId
};

// The kernel that a node would launch; empty: it is none, or not known.
std::string_view node_kernel_name(const AnalysisInput& input, uint32_t row);

// The call that an operation belongs to: its launch, or if `captured` the call that captured or added what a graph runs, where that is
// known. kNone: no call.
uint32_t call_of(const Trace& trace, const Views& views, const GpuOperation& operation, bool captured);

// "operations of graphs 1500: captured or added by a known call 1480, captured before recording 20". By NodeOrigin.
std::string origin_note(const std::array<uint64_t, 6>& by_origin);

}  // namespace prof::analyzer
