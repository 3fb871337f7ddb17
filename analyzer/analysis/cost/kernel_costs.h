// How many FLOPs and bytes does each kernel of a trace do? Called by the reports about peaks and by the trace writer.
#pragma once

#include "analyzer/analysis/cost/kernel_cost.h"
#include "analyzer/analysis/cost/kernel_cost_table.h"
#include "analyzer/analysis/views.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <string_view>

namespace prof::analyzer {

// KernelCosts combines what the sources know, the best first: what hardware counters measured of the launch; else the
// cost of the library call, or of the operator, that launched the kernel (by shapes, else by torch.compile's numbers);
// else what the kernel's event has itself. It calls the sources in order: KernelClaims and KernelShares with
// RangeCosts, then add_event_costs() and add_counter_costs().
class KernelCosts {
 public:
  // `assumed`: the type of elements if the trace has none; Unknown: there is no number then. O(n log n) for n
  // operations.
  KernelCosts(const Trace& trace, const Views& views, DataType assumed = DataType::Unknown);

  // Of a row of Trace::operations. What is no kernel has no cost.
  const KernelCost& of(uint32_t operation) const { return table_.of(operation); }
  bool any() const { return table_.any_entry(); }
  // Why no kernel has a number, and what to do; "" if one has.
  std::string_view remedy() const;

 private:
  const Trace& trace_;
  KernelCostTable table_;
};

}  // namespace prof::analyzer
