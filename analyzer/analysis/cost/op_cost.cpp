#include "analyzer/analysis/cost/op_cost.h"

namespace prof::analyzer {

std::string_view no_cost_text(NoCost reason) {
  switch (reason) {
    case NoCost::None: return "";
    case NoCost::NoLaunch: return "no launch inside an operator";
    case NoCost::NoFormula: return "no formula for the operator";
    case NoCost::NoShapes: return "no shapes in the trace, or not numbers";
    case NoCost::NoArguments: return "stride, padding or other arguments are not in the trace";
    case NoCost::Misfit: return "shapes do not fit each other";
    case NoCost::NoType: return "no data type in the trace (--dtype)";
    case NoCost::Varying: return "sizes of sequences or groups are not in the trace";
    case NoCost::Windowed: return "a window of keys";
    case NoCost::NotCounted: return "no product of matrices: not counted";
    case NoCost::Helper: return "counted at the operator's main kernel";
    case NoCost::CountedInside: return "counted at an operator inside";
    case NoCost::UsefulUnknown: break;
  }
  return "not known from the counted metrics";
}

void set_matrix_cost(OpCost& cost, uint64_t flops, uint64_t elements) {
  cost.known = cost.matrix = true;
  cost.flops = cost.useful_flops = flops;
  cost.no_flops = NoCost::None;
  cost.no_bytes = NoCost::NoType;
  if (const uint64_t size = bytes_of(cost.type); size != 0) {
    cost.bytes = times(elements, size);
    cost.no_bytes = NoCost::None;
  }
}

OpCost op_cost(std::string_view op, const OpInputs& inputs) {
  if (const size_t colons = op.find("::"); colons != std::string_view::npos) {
    const std::string_view package = op.substr(0, colons);
    const bool flash_attn = package == "flash_attn" || package == "flashattn";
    op.remove_prefix(colons + 2);
    if (package != "aten" && !(flash_attn && op.starts_with("_flash_attn_"))) return {};
  }
  for (const auto family : {gemm_cost, conv_cost, attention_cost, memory_cost, norm_cost, list_cost, pool_cost}) {
    std::optional<OpCost> cost = family(op, inputs);
    if (!cost) continue;
    // A complex multiply-add has four real products and four real sums. Library calls and hardware counters count the
    // same way.
    if (is_complex(cost->type) && cost->flops) {
      for (uint64_t* const number : {&*cost->flops, &cost->input_gradient, &cost->weight_gradient})
        *number = times(4, *number);
      if (cost->useful_flops) cost->useful_flops = times(4, *cost->useful_flops);
    }
    // A number that does not fit 64 bits comes from a damaged shape.
    for (std::optional<uint64_t>* number : {&cost->flops, &cost->useful_flops, &cost->bytes}) {
      if (*number != UINT64_MAX) continue;
      number->reset();
      (number == &cost->bytes ? cost->no_bytes : cost->no_flops) = NoCost::Misfit;
    }
    if (!cost->flops) {
      cost->useful_flops.reset();
      cost->input_gradient = cost->weight_gradient = 0;
    }
    return *cost;
  }
  return {};
}

}  // namespace prof::analyzer
