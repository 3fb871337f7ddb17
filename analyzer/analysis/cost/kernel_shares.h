// How much of a range's work did each of its kernels do?
#pragma once

#include "analyzer/analysis/cost/kernel_claims.h"
#include "analyzer/analysis/cost/kernel_cost_table.h"
#include "analyzer/analysis/cost/kernel_role.h"
#include "analyzer/analysis/cost/range_cost.h"
#include "analyzer/model/names.h"
#include "analyzer/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace prof::analyzer {

// KernelShares gives the cost of one run of a range to its kernels. All of it goes once to the main kernel; if that was
// launched several times, each launch gets its part by time. The two gradients of a convolution go to two kernels.
// Kernels that only reduce, transpose or fill for the main one get no number, but the reason and which kernel they
// help.
class KernelShares {
 public:
  KernelShares(const Trace& trace, const KernelNames& names, KernelRoles& roles, KernelCostTable& table)
      : trace_(trace), names_(names), roles_(roles), table_(table) {}

  // `kernels`: all of one run of the range, at least one. `counted_inside`: an inner range has the numbers.
  void share(std::span<const KernelClaim> kernels, const RangeCost& range, bool counted_inside);

 private:
  struct Numbers {
    std::optional<uint64_t> flops, useful, bytes;
  };
  void give(std::span<const KernelClaim> kernels, const RangeCost& range, Numbers left);
  void set_helped(std::span<const KernelClaim> kernels, size_t main);
  size_t main_of(std::span<const KernelClaim> kernels, bool input_gradient, bool weight_gradient);
  std::vector<KernelClaim> same_kernel(std::span<const KernelClaim> kernels, size_t as) const;
  const GpuOperation& operation(const KernelClaim& claim) const { return trace_.operations[claim.operation]; }

  const Trace& trace_;
  const KernelNames& names_;
  KernelRoles& roles_;
  KernelCostTable& table_;
};

}  // namespace prof::analyzer
