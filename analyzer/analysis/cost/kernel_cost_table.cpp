#include "analyzer/analysis/cost/kernel_cost_table.h"

namespace prof::analyzer {

KernelCostTable::KernelCostTable(size_t operations, NoCost in_range) : costs_(kShared) {
  index_.resize(operations);
  costs_[kInRange].no_flops = costs_[kInRange].no_bytes = in_range;
}

KernelCost& KernelCostTable::entry(uint32_t operation) {
  if (!has_entry(operation)) {
    const KernelCost shared = of(operation);
    index_[operation] = static_cast<uint32_t>(costs_.size());
    costs_.push_back(shared);
  }
  return costs_[index_[operation]];
}

}  // namespace prof::analyzer
