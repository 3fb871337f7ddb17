// The costs of all kernels of a trace.
#pragma once

#include "analyzer/analysis/cost/kernel_cost.h"
#include "analyzer/base/column.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace prof::analyzer {

// KernelCostTable holds one cost for each row of Trace::operations. Most operations have no number, so all that have
// the same reason for it share one entry until one of them gets an entry of its own. Numbers are set by those who know
// them (KernelShares, kernel_own_cost.h); the table only keeps them.
class KernelCostTable {
 public:
  // `in_range`: the reason for kernels that a range launched without any cost. Others have NoCost::NoLaunch.
  KernelCostTable(size_t operations, NoCost in_range);

  const KernelCost& of(uint32_t operation) const { return costs_[index_[operation]]; }
  bool has_entry(uint32_t operation) const { return index_[operation] >= kShared; }
  // The operation's own entry, made from the shared one if there is none yet. Valid until the next call.
  KernelCost& entry(uint32_t operation);
  // For an operation without an entry of its own: a range launched it.
  void set_in_range(uint32_t operation) { index_[operation] = kInRange; }

  bool any_entry() const { return costs_.size() > kShared; }
  NoCost in_range_reason() const { return costs_[kInRange].no_flops; }

 private:
  static constexpr uint32_t kInRange = 1, kShared = 2;  // entry 0: no launch

  Column<uint32_t> index_;  // row of Trace::operations -> costs_
  std::vector<KernelCost> costs_;
};

}  // namespace prof::analyzer
