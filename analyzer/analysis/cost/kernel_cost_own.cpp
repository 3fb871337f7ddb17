// What is known of a kernel itself, whatever launched it: values of hardware counters, and what its event in a trace says.
#include "analyzer/analysis/cost/counter_numbers.h"
#include "analyzer/analysis/cost/kernel_cost.h"

#include <cmath>

namespace prof::analyzer {

// Counted FLOPs are taken where nothing is missing: of a set without tensor cores a product's would be those of its epilogue, and of one
// without vector units those of a kernel that uses no tensor core would be 0.
void KernelCosts::take_from_counters() {
  if (trace_.counters.launches.empty()) return;
  const std::vector<CounterMeaning> meanings = counter_meanings(trace_);
  constexpr double kMost = 9e18;
  for (uint32_t row = 0; row < trace_.operations.size(); ++row) {
    if (trace_.operations[row].kind() != GpuKind::Kernel) continue;
    const CounterRow* const counted = trace_.counters.of_operation(trace_, row);
    if (counted == nullptr) continue;
    const CounterNumbers numbers = meanings[counted->set].of(trace_.counters.values_of(*counted));
    const bool all = numbers.flops && !numbers.vector_only && (!numbers.tensor_only || *numbers.flops > 0);
    const bool flops = all && *numbers.flops < kMost, bytes = numbers.bytes && *numbers.bytes < kMost;
    if (!flops && !bytes) continue;
    KernelCost& cost = cost_for(row);
    if (flops) {
      // What a trace gives an operator as kernel_flop may be what was counted.
      if (cost.flops_source == CostSource::Library || cost.flops_source == CostSource::Shapes)
        cost.nominal_flops = cost.flops;
      cost.flops = static_cast<uint64_t>(std::llround(*numbers.flops));
      cost.flops_source = CostSource::Counters, cost.no_flops = NoCost::None;
      cost.type = numbers.type, cost.peak = numbers.peak, cost.assumed = false;
    }
    if (bytes) {
      cost.bytes = static_cast<uint64_t>(std::llround(*numbers.bytes));
      cost.bytes_source = CostSource::Counters, cost.no_bytes = NoCost::None;
    }
  }
}

// Not where an operator or a library call has the kernel: a tool that writes such numbers gives each kernel of an operator all of it.
void KernelCosts::take_from_events() {
  for (uint32_t row = 0; row < trace_.operations.size(); ++row) {
    const GpuOperation& operation = trace_.operations[row];
    if (operation.kind() != GpuKind::Kernel || operation.bytes == 0 || index_[row] >= kReasons) continue;
    const std::string_view own = trace_.text(trace_.details[operation.bytes].other);
    const std::optional<double> giga = json_member(own, "kernel_num_gb"), flop = json_member(own, "kernel_flop");
    if (!giga && !flop) continue;
    KernelCost& cost = cost_for(row);
    cost.type = assumed_, cost.assumed = assumed_ != DataType::Unknown;
    if (flop) {
      OpCost product;
      product.matrix = true, product.type = assumed_;
      cost.flops = static_cast<uint64_t>(std::llround(*flop)), cost.no_flops = NoCost::None;
      cost.flops_source = CostSource::Event, cost.peak = peak_of(product, operation);
    }
    if (giga && *giga < 1e9) {
      cost.bytes = static_cast<uint64_t>(std::llround(*giga * 1e9)), cost.no_bytes = NoCost::None;
      cost.bytes_source = CostSource::Event;
    }
  }
}

}  // namespace prof::analyzer
