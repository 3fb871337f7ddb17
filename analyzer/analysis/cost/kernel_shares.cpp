#include "analyzer/analysis/cost/kernel_shares.h"

#include <utility>

namespace prof::analyzer {

namespace {

using TimeSum = unsigned __int128;  // of any number of kernels

// Part of a whole by time. The parts of all add up to the whole if each gets what is left of the one before.
uint64_t share_of(uint64_t whole, uint64_t part_ns, TimeSum all_ns) {
  if (all_ns == 0) return whole;
  return static_cast<uint64_t>(static_cast<TimeSum>(whole) * part_ns / all_ns);
}

}  // namespace

// The kernel that does the work: by its name, the longest of those; else the longest that is no helper; else the
// longest. For a gradient those named after the other gradient are last.
size_t KernelShares::main_of(std::span<const KernelClaim> kernels, bool input_gradient, bool weight_gradient) {
  const auto rank = [&](const KernelClaim& claim) {
    const KernelRole& role = roles_.of(operation(claim));
    int place = role.part == KernelPart::Main ? 2 : role.part == KernelPart::Other ? 1 : 0;
    if (input_gradient) place += role.input_gradient ? 4 : role.weight_gradient ? -4 : 0;
    if (weight_gradient) place += role.weight_gradient ? 4 : role.input_gradient ? -4 : 0;
    return std::pair(place, operation(claim).duration_ns());
  };
  size_t best = 0;
  for (size_t i = 1; i < kernels.size(); ++i) {
    if (rank(kernels[i]) > rank(kernels[best])) best = i;
  }
  return best;
}

std::vector<KernelClaim> KernelShares::same_kernel(std::span<const KernelClaim> kernels, size_t as) const {
  const auto name = [&](const KernelClaim& claim) {
    return trace_.kernels[index(names_.named_by(operation(claim)))].name;
  };
  const StringId wanted = name(kernels[as]);
  std::vector<KernelClaim> same;
  for (const KernelClaim& each : kernels) {
    if (name(each) == wanted) same.push_back(each);
  }
  return same;
}

// To all launches of one kernel, each its part of the numbers by time.
void KernelShares::give(std::span<const KernelClaim> kernels, const RangeCost& range, Numbers left) {
  TimeSum left_ns = 0;
  for (const KernelClaim& each : kernels) left_ns += static_cast<uint64_t>(operation(each).duration_ns());
  for (const KernelClaim& each : kernels) {
    const uint64_t duration_ns = static_cast<uint64_t>(operation(each).duration_ns());
    const bool last = &each == &kernels.back();
    const auto move_part = [&](std::optional<uint64_t>& whole, std::optional<uint64_t>& to) {
      if (!whole) return;
      const uint64_t part = last ? *whole : share_of(*whole, duration_ns, left_ns);
      to = to.value_or(0) + part;
      *whole -= part;
    };
    KernelCost& cost = table_.entry(each.operation);
    move_part(left.flops, cost.flops);
    move_part(left.useful, cost.useful_flops);
    move_part(left.bytes, cost.bytes);
    left_ns -= duration_ns;
    cost.op = each.range;
    cost.type = range.cost.type;
    cost.assumed = range.assumed;
    if (cost.flops) {
      cost.causal = range.cost.causal;
      cost.no_useful = range.cost.no_useful;
      cost.flops_source = range.flops_source;
      cost.no_flops = NoCost::None;
      cost.peak = range.call_has_peak ? range.peak : kernel_peak(range.cost, roles_.of(operation(each)));
    }
    if (cost.bytes) {
      cost.bytes_source = range.bytes_source;
      cost.no_bytes = NoCost::None;
    }
  }
}

void KernelShares::set_helped(std::span<const KernelClaim> kernels, size_t main) {
  for (const KernelClaim& each : kernels) {
    KernelCost& cost = table_.entry(each.operation);
    if (!cost.flops && !cost.bytes) cost.main = kernels[main].operation;
  }
}

void KernelShares::share(std::span<const KernelClaim> kernels, const RangeCost& range, bool counted_inside) {
  const OpCost& whole = range.cost;
  const bool inside = whole.flops && counted_inside;
  for (const KernelClaim& each : kernels) {
    KernelCost& cost = table_.entry(each.operation);
    cost.op = each.range;
    cost.type = whole.type;
    cost.assumed = range.assumed;
    cost.no_flops = inside ? NoCost::CountedInside : whole.flops ? NoCost::Helper : whole.no_flops;
    cost.no_bytes = inside ? NoCost::CountedInside : whole.bytes ? NoCost::Helper : whole.no_bytes;
  }
  if (inside || (!whole.flops && !whole.bytes)) return;
  const Numbers all{whole.flops, whole.useful_flops, whole.bytes};
  if (range.spread) return give(kernels, range, all);
  if (whole.input_gradient != 0 && whole.weight_gradient != 0) {
    const size_t of_input = main_of(kernels, true, false), of_weight = main_of(kernels, false, true);
    if (of_input != of_weight) {
      Numbers input{whole.input_gradient, whole.input_gradient, {}};
      Numbers weight{whole.weight_gradient, whole.weight_gradient, {}};
      if (whole.bytes) {
        input.bytes = *whole.bytes / 2;
        weight.bytes = *whole.bytes - *input.bytes;
      }
      give(same_kernel(kernels, of_input), range, input);
      give(same_kernel(kernels, of_weight), range, weight);
      return set_helped(kernels, of_input);
    }
  }
  const size_t main = main_of(kernels, whole.weight_gradient == 0 && whole.input_gradient != 0,
                              whole.input_gradient == 0 && whole.weight_gradient != 0);
  give(same_kernel(kernels, main), range, all);
  set_helped(kernels, main);
}

}  // namespace prof::analyzer
