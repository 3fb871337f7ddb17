// How many FLOPs and bytes does a range have to do: an operator, by its shapes, or a call of a library, by its
// arguments?
#pragma once

#include "analyzer/analysis/cost/kernel_cost.h"
#include "analyzer/analysis/cost/library_calls.h"
#include "analyzer/analysis/cost/op_cost.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace prof::analyzer {

struct RangeCost {
  OpCost cost;
  CostSource flops_source = CostSource::None, bytes_source = CostSource::None;
  bool assumed = false;          // the type is the user's, the trace has none
  bool spread = false;           // each kernel does a part; else one kernel does all
  bool call_has_peak = false;    // `peak` is what the library call compares with; else the kernel's name decides
  std::optional<PeakType> peak;  // with call_has_peak; nothing: no peak is known for the type
};

// RangeCosts knows the cost of each row of Trace::ranges and which ranges have one. It reads each distinct text of an
// operator once: the name, and the shapes, types and arguments that belong to it.
class RangeCosts {
 public:
  // `assumed`: the type of elements if the trace has none; Unknown: there is no number then.
  RangeCosts(const Trace& trace, const LibraryCalls& calls, DataType assumed)
      : trace_(trace), calls_(calls), assumed_(assumed) {}

  // Valid as long as this object. `cost.known` is false if the range has no cost.
  const RangeCost& of(uint32_t row);
  // The same, and for a library call also what only the operator around it knows: the mask of an attention, and what a
  // fused plan moves. The operator's numbers count if it does the same: as many FLOPs.
  RangeCost with_operator(uint32_t range);
  // The range itself or the innermost one around it that has a cost; kNone: there is none. Amortised O(1).
  uint32_t owner(uint32_t range);

 private:
  RangeCost of_library_call(const Range& range) const;
  RangeCost of_operator(const Range& range) const;

  const Trace& trace_;
  const LibraryCalls& calls_;
  const DataType assumed_;
  std::unordered_map<std::string, RangeCost> by_text_;
  std::unordered_map<uint32_t, uint32_t> owners_;
};

}  // namespace prof::analyzer
