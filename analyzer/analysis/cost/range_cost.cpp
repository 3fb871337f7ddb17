#include "analyzer/analysis/cost/range_cost.h"

#include "analyzer/analysis/cost/library_cost.h"
#include "analyzer/analysis/cost/op_inputs.h"
#include "analyzer/model/range_text.h"

#include <cmath>
#include <string_view>
#include <vector>

namespace prof::analyzer {

namespace {

// What torch.compile adds to the events of its kernels. It counts where the shapes give no number.
void add_inductor_numbers(std::string_view members, const OpInputs& inputs, DataType assumed, RangeCost& range) {
  const std::optional<double> giga = positive_member(members, "kernel_num_gb"),
                              flop = positive_member(members, "kernel_flop");
  if (!giga && !flop) return;
  OpCost& cost = range.cost;
  cost.known = true;
  if (!cost.bytes && giga && *giga < 1e9) {
    cost.bytes = static_cast<uint64_t>(std::llround(*giga * 1e9));
    cost.no_bytes = NoCost::None;
    range.bytes_source = CostSource::Inductor;
  }
  if (!cost.flops && flop) {
    cost.flops = static_cast<uint64_t>(std::llround(*flop));
    cost.no_flops = NoCost::None;
    cost.matrix = true;
    cost.no_useful = NoCost::UsefulUnknown;
    range.flops_source = CostSource::Inductor;
  } else if (!cost.flops && cost.no_flops == NoCost::NoFormula) {
    cost.no_flops = NoCost::NotCounted;
  }
  if (cost.type == DataType::Unknown && inputs.has_types()) cost.type = inputs.type(0);
  if (cost.type == DataType::Unknown) {
    cost.type = assumed;
    range.assumed = assumed != DataType::Unknown;
  }
}

}  // namespace

const RangeCost& RangeCosts::of(uint32_t row) {
  const Range& range = trace_.ranges[row];
  const OperatorDetail* const detail = trace_.detail(range);
  const OperatorDetail none;
  const OperatorDetail& texts = detail == nullptr ? none : *detail;
  const uint32_t parts[] = {index(range.label), static_cast<uint32_t>(texts.dims), static_cast<uint32_t>(texts.types),
                            static_cast<uint32_t>(texts.concrete), static_cast<uint32_t>(texts.other)};
  const auto [found, added] = by_text_.try_emplace(std::string(reinterpret_cast<const char*>(parts), sizeof parts));
  if (added) found->second = calls_.is_call(range) ? of_library_call(range) : of_operator(range);
  return found->second;
}

RangeCost RangeCosts::of_library_call(const Range& range) const {
  RangeCost result;
  const std::optional<LibraryCost> found = library_cost(trace_.range_name(range));
  if (!found) return result;
  result.cost = found->cost;
  result.spread = found->spread;
  result.call_has_peak = !found->math_unknown;
  result.peak = found->peak;
  if (result.cost.flops) result.flops_source = found->nominal ? CostSource::Nominal : CostSource::Library;
  if (result.cost.bytes) result.bytes_source = CostSource::Library;
  return result;
}

RangeCost RangeCosts::of_operator(const Range& range) const {
  RangeCost result;
  const OperatorDetail* const detail = trace_.detail(range);
  std::string_view op = trace_.range_name(range), dims, types, concrete, other;
  RangeText nvtx;
  if (detail != nullptr) {
    dims = trace_.text(detail->dims);
    types = trace_.text(detail->types);
    concrete = trace_.text(detail->concrete);
    other = trace_.text(detail->other);
  } else {
    nvtx = parse_range_text(op);  // of emit_nvtx
    op = nvtx.name;
    dims = nvtx.sizes;
  }
  const OpInputs inputs(dims, types, concrete, assumed_);
  // Without shapes an operator's name alone claims nothing: that would hide a number of an operator around it.
  if (!dims.empty()) result.cost = op_cost(op, inputs);
  result.assumed =
      assumed_ != DataType::Unknown && (result.cost.assumed || !inputs.has_types()) && result.cost.type == assumed_;
  if (result.cost.flops) result.flops_source = CostSource::Shapes;
  if (result.cost.bytes) result.bytes_source = CostSource::Shapes;
  add_inductor_numbers(other, inputs, assumed_, result);
  return result;
}

RangeCost RangeCosts::with_operator(uint32_t range) {
  RangeCost result = of(range);
  OpCost& cost = result.cost;
  if (!calls_.is_call(trace_.ranges[range]) || !cost.flops || (cost.useful_flops && cost.bytes)) return result;
  const uint32_t op = owner(trace_.ranges[range].parent);
  if (op == kNone) return result;
  const RangeCost& around = of(op);
  if (around.cost.flops != cost.flops) return result;
  if (!cost.useful_flops) {
    cost.useful_flops = around.cost.useful_flops;
    cost.causal = around.cost.causal;
    cost.no_useful = around.cost.no_useful;
  }
  if (!cost.bytes) {
    cost.bytes = around.cost.bytes;
    cost.no_bytes = around.cost.no_bytes;
    result.bytes_source = around.bytes_source;
  }
  return result;
}

uint32_t RangeCosts::owner(uint32_t range) {
  std::vector<uint32_t> passed;
  uint32_t answer = kNone;
  for (uint32_t at = range; at != kNone; at = trace_.ranges[at].parent) {
    const auto known = owners_.find(at);
    if (known != owners_.end()) {
      answer = known->second;
      break;
    }
    passed.push_back(at);
    if (of(at).cost.known) {
      answer = at;
      break;
    }
  }
  for (const uint32_t each : passed) owners_.emplace(each, answer);
  return answer;
}

}  // namespace prof::analyzer
