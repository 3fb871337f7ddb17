#include "analyzer/analysis/cost/kernel_own_cost.h"

#include "analyzer/analysis/cost/counter_numbers.h"
#include "analyzer/analysis/cost/op_inputs.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace prof::analyzer {

void add_event_costs(const Trace& trace, DataType assumed, KernelRoles& roles, KernelCostTable& table) {
  if (trace.details.empty()) return;
  for (uint32_t row = 0; row < trace.operations.size(); ++row) {
    const GpuOperation& operation = trace.operations[row];
    if (operation.kind() != GpuKind::Kernel || operation.bytes == 0 || table.has_entry(row)) continue;
    const std::string_view own = trace.text(trace.details[operation.bytes].other);
    const std::optional<double> giga = positive_member(own, "kernel_num_gb"),
                                flop = positive_member(own, "kernel_flop");
    if (!giga && !flop) continue;
    KernelCost& cost = table.entry(row);
    cost.type = assumed;
    cost.assumed = assumed != DataType::Unknown;
    if (flop) {
      OpCost product;
      product.matrix = true;
      product.type = assumed;
      cost.flops = static_cast<uint64_t>(std::llround(*flop));
      cost.no_flops = NoCost::None;
      cost.flops_source = CostSource::Event;
      cost.peak = kernel_peak(product, roles.of(operation));
    }
    if (giga && *giga < 1e9) {
      cost.bytes = static_cast<uint64_t>(std::llround(*giga * 1e9));
      cost.no_bytes = NoCost::None;
      cost.bytes_source = CostSource::Event;
    }
  }
}

// Counted FLOPs are taken if nothing is missing: a set without tensor cores would give a product the FLOPs of its
// epilogue, and one without vector units would give a kernel without tensor cores none.
void add_counter_costs(const Trace& trace, KernelCostTable& table) {
  if (trace.counters.launches.empty()) return;
  const std::vector<CounterMeaning> meanings = counter_meanings(trace);
  constexpr double kMost = 9e18;
  for (uint32_t row = 0; row < trace.operations.size(); ++row) {
    if (trace.operations[row].kind() != GpuKind::Kernel) continue;
    const CounterRow* const counted = trace.counters.of_operation(trace, row);
    if (counted == nullptr) continue;
    const CounterNumbers numbers = meanings[counted->set].of(trace.counters.values_of(*counted));
    const bool all = numbers.flops && !numbers.vector_only && (!numbers.tensor_only || *numbers.flops > 0);
    const bool flops = all && *numbers.flops < kMost, bytes = numbers.bytes && *numbers.bytes < kMost;
    if (!flops && !bytes) continue;
    KernelCost& cost = table.entry(row);
    if (flops) {
      // What a trace gives an operator as kernel_flop may be what was counted, so that is not kept.
      if (cost.flops_source == CostSource::Library || cost.flops_source == CostSource::Shapes)
        cost.nominal_flops = cost.flops;
      cost.flops = static_cast<uint64_t>(std::llround(*numbers.flops));
      cost.flops_source = CostSource::Counters;
      cost.no_flops = NoCost::None;
      cost.type = numbers.type;
      cost.peak = numbers.peak;
      cost.assumed = false;
    }
    if (bytes) {
      cost.bytes = static_cast<uint64_t>(std::llround(*numbers.bytes));
      cost.bytes_source = CostSource::Counters;
      cost.no_bytes = NoCost::None;
    }
  }
}

}  // namespace prof::analyzer
