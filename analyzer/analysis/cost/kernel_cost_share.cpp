// Which kernels of an operator or library call get its numbers, and how much of them each.
#include "analyzer/analysis/cost/kernel_cost.h"

#include <algorithm>
#include <utility>

namespace prof::analyzer {

namespace {

using TimeSum = unsigned __int128;  // of any number of kernels

// Part of a whole by time; the parts of all add up to the whole if each gets what is left of the one before.
uint64_t share_of(uint64_t whole, int64_t part_ns, TimeSum all_ns) {
  if (all_ns == 0) return whole;
  return static_cast<uint64_t>(static_cast<TimeSum>(whole) * static_cast<uint64_t>(part_ns) / all_ns);
}

}  // namespace

// The kernel that does the work: by its name, the longest of those; else the longest that is no helper; else the longest. For
// a gradient those named after the other gradient are last.
size_t KernelCosts::main_of(const std::vector<Claim>& kernels, bool input_gradient, bool weight_gradient) {
  const auto rank = [&](const Claim& claim) {
    const GpuOperation& operation = trace_.operations[claim.operation];
    const NameWords& words = words_of(operation);
    int place = words.role == Role::Main ? 2 : words.role == Role::Other ? 1 : 0;
    if (input_gradient) place += words.input_gradient ? 4 : words.weight_gradient ? -4 : 0;
    if (weight_gradient) place += words.weight_gradient ? 4 : words.input_gradient ? -4 : 0;
    return std::pair(place, operation.duration_ns());
  };
  size_t best = 0;
  for (size_t i = 1; i < kernels.size(); ++i) {
    if (rank(kernels[i]) > rank(kernels[best])) best = i;
  }
  return best;
}

// To all launches of one kernel, each its part by time.
void KernelCosts::give(const std::vector<Claim>& kernels, const OpNumbers& numbers, std::optional<uint64_t> flops,
                       std::optional<uint64_t> useful, std::optional<uint64_t> bytes) {
  TimeSum left_ns = 0;
  const auto duration_ns = [&](const Claim& each) {
    return static_cast<uint64_t>(trace_.operations[each.operation].duration_ns());
  };
  for (const Claim& each : kernels) left_ns += duration_ns(each);
  for (const Claim& each : kernels) {
    const GpuOperation& operation = trace_.operations[each.operation];
    KernelCost& cost = cost_for(each.operation);
    const bool last = &each == &kernels.back();
    const auto take = [&](std::optional<uint64_t>& whole, std::optional<uint64_t>& to) {
      if (!whole) return;
      const uint64_t part = last ? *whole : share_of(*whole, operation.duration_ns(), left_ns);
      to = to.value_or(0) + part;
      *whole -= part;
    };
    take(flops, cost.flops), take(useful, cost.useful_flops), take(bytes, cost.bytes);
    left_ns -= duration_ns(each);
    cost.op = each.op;
    cost.type = numbers.cost.type, cost.assumed = numbers.assumed;
    if (cost.flops)
      cost.causal = numbers.cost.causal, cost.no_useful = numbers.cost.no_useful,
      cost.flops_source = numbers.flops_source, cost.no_flops = NoCost::None,
      cost.peak = numbers.library ? numbers.peak : peak_of(numbers.cost, operation);
    if (cost.bytes) cost.bytes_source = numbers.bytes_source, cost.no_bytes = NoCost::None;
  }
}

// A library call knows neither the mask of an attention nor what of a fused plan moves; the operator that made the call may, if it is the
// same work: as many FLOPs.
void KernelCosts::add_from_around(uint32_t call, OpNumbers& numbers) {
  if (!numbers.cost.flops || (numbers.cost.useful_flops && numbers.cost.bytes)) return;
  const uint32_t op = claimed_by(trace_.ranges[call].parent);
  if (op == kNone) return;
  const OpNumbers& around = numbers_of(trace_.ranges[op]);
  if (around.cost.flops != numbers.cost.flops) return;
  if (!numbers.cost.useful_flops) {
    numbers.cost.useful_flops = around.cost.useful_flops;
    numbers.cost.causal = around.cost.causal, numbers.cost.no_useful = around.cost.no_useful;
  }
  if (!numbers.cost.bytes) {
    numbers.cost.bytes = around.cost.bytes, numbers.cost.no_bytes = around.cost.no_bytes;
    numbers.bytes_source = around.bytes_source;
  }
}

void KernelCosts::share_out(const std::vector<Claim>& claims, size_t first, size_t last) {
  const std::vector<Claim> kernels(claims.begin() + static_cast<ptrdiff_t>(first),
                                   claims.begin() + static_cast<ptrdiff_t>(last));
  const uint32_t op = kernels.front().op;
  OpNumbers numbers = numbers_of(trace_.ranges[op]);
  if (library_.is_call(trace_.ranges[op])) add_from_around(op, numbers);
  const bool inside = numbers.cost.flops && encloses_[op];
  for (const Claim& each : kernels) {
    KernelCost& cost = cost_for(each.operation);
    cost.op = op, cost.type = numbers.cost.type, cost.assumed = numbers.assumed;
    cost.no_flops = inside ? NoCost::CountedInside : numbers.cost.flops ? NoCost::Helper : numbers.cost.no_flops;
    cost.no_bytes = inside ? NoCost::CountedInside : numbers.cost.bytes ? NoCost::Helper : numbers.cost.no_bytes;
  }
  if (inside || (!numbers.cost.flops && !numbers.cost.bytes)) return;
  if (numbers.spread) return give(kernels, numbers, numbers.cost.flops, numbers.cost.useful_flops, numbers.cost.bytes);
  const auto same_kernel = [&](size_t as) {
    const StringId name = trace_.kernels[index(views_.names().named_by(trace_.operations[kernels[as].operation]))].name;
    std::vector<Claim> same;
    for (const Claim& each : kernels) {
      if (trace_.kernels[index(views_.names().named_by(trace_.operations[each.operation]))].name == name)
        same.push_back(each);
    }
    return same;
  };
  const auto help = [&](size_t main) {
    for (const Claim& each : kernels) {
      KernelCost& cost = cost_for(each.operation);
      if (!cost.flops && !cost.bytes) cost.main = kernels[main].operation;
    }
  };
  const OpCost& cost = numbers.cost;
  if (cost.input_gradient != 0 && cost.weight_gradient != 0) {
    const size_t of_input = main_of(kernels, true, false), of_weight = main_of(kernels, false, true);
    if (of_input != of_weight) {
      give(same_kernel(of_input), numbers, cost.input_gradient, cost.input_gradient,
           cost.bytes ? std::optional(*cost.bytes / 2) : std::nullopt);
      give(same_kernel(of_weight), numbers, cost.weight_gradient, cost.weight_gradient,
           cost.bytes ? std::optional(*cost.bytes - *cost.bytes / 2) : std::nullopt);
      help(of_input);
      return;
    }
  }
  const size_t main = main_of(kernels, cost.weight_gradient == 0 && cost.input_gradient != 0,
                              cost.input_gradient == 0 && cost.weight_gradient != 0);
  give(same_kernel(main), numbers, cost.flops, cost.useful_flops, cost.bytes);
  help(main);
}

}  // namespace prof::analyzer
