// What is known of the FLOPs and bytes of one kernel.
#pragma once

#include "analyzer/analysis/cost/device_peaks.h"
#include "analyzer/analysis/cost/op_cost.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace prof::analyzer {

// Where a number is from. Nominal: a library call whose FLOPs are a convention. Event: the kernel's own event in the
// trace.
enum class CostSource : uint8_t { None, Library, Nominal, Shapes, Inductor, Counters, Event };
std::string_view cost_source_name(CostSource source);  // "library", "nominal", …; "" for None

struct KernelCost {
  std::optional<uint64_t> flops, useful_flops, bytes;
  std::optional<uint64_t> nominal_flops;  // if `flops` are counted: what the call or operator has to do
  uint32_t op = kNone;                    // row of Trace::ranges: the operator or library call that has the cost
  uint32_t main = kNone;         // row of Trace::operations: the kernel that this one helps, with all of the cost
  std::optional<PeakType> peak;  // what the FLOPs are compared with
  DataType type = DataType::Unknown;
  bool assumed = false;  // the type is the user's, the trace has none
  bool causal = false;   // attention with a causal mask: useful FLOPs are fewer
  CostSource flops_source = CostSource::None, bytes_source = CostSource::None;
  NoCost no_flops = NoCost::NoLaunch, no_bytes = NoCost::NoLaunch;
  NoCost no_useful = NoCost::UsefulUnknown;  // of what has FLOPs and no useful ones
};

}  // namespace prof::analyzer
