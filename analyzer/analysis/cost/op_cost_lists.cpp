// What do operators on lists of tensors cost: cat, the elementwise operators of `_foreach_…`, and optimizers that
// update all parameters in one call? A trace has the shapes in a list but not the types, so bytes are known only if the
// user gives a type (--dtype).
#include "analyzer/analysis/cost/op_cost_bytes.h"

#include <array>

namespace prof::analyzer {

namespace {

// Number of elements of all tensors of a list; nullopt: an unknown shape, or no list.
std::optional<uint64_t> elements_of_list(const OpInputs& inputs, size_t i) {
  if (!inputs.is_tensor_list(i)) return std::nullopt;
  uint64_t elements = 0;
  const std::vector<std::optional<Shape>> shapes = inputs.tensors(i);
  for (const std::optional<Shape>& shape : shapes) {
    if (!shape) return std::nullopt;
    elements = plus(elements, elements_of(*shape));
  }
  // Older traces have an empty list here.
  return shapes.empty() ? std::nullopt : std::optional(elements);
}

OpCost of_lists(const OpInputs& inputs, uint64_t elements, uint64_t more_bytes = 0) {
  const DataType type = inputs.type_of_lists();
  if (bytes_of(type) == 0) return without_bytes(NoCost::NoType);
  OpCost cost = bytes_only(type, plus(times(elements, bytes_of(type)), more_bytes));
  cost.assumed = true;
  return cost;
}

OpCost cat(const OpInputs& inputs) {
  const std::optional<uint64_t> elements = elements_of_list(inputs, 0);
  return elements ? of_lists(inputs, times(2, *elements)) : without_bytes(NoCost::NoShapes);
}

// Reads all lists and tensors of the operands and writes a result as large as the first list.
OpCost foreach_elementwise(const OpInputs& inputs, size_t operands) {
  const std::optional<uint64_t> first = elements_of_list(inputs, 0);
  if (!first) return without_bytes(NoCost::NoShapes);
  uint64_t elements = times(2, *first), bytes = 0;
  for (size_t i = 1; i < std::min(operands, inputs.size()); ++i) {
    if (inputs.is_tensor(i)) bytes = plus(bytes, bytes_of_tensor(inputs, i).value_or(0));
    if (!inputs.is_tensor_list(i)) continue;
    const std::optional<uint64_t> one = elements_of_list(inputs, i);
    if (!one) return without_bytes(NoCost::NoShapes);
    elements = plus(elements, *one);
  }
  return of_lists(inputs, elements, bytes);
}

// _foreach_copy_(to, from), _foreach_zero_(to), _foreach_norm(from): the elements that are read and written.
OpCost foreach_moved(const OpInputs& inputs, std::string_view op) {
  const std::optional<uint64_t> first = elements_of_list(inputs, 0), second = elements_of_list(inputs, 1);
  if (!first || (op == "copy_" && !second)) return without_bytes(NoCost::NoShapes);
  const uint64_t more = op == "copy_" ? *second : op == "norm" ? inputs.tensors(0).size() : 0;
  return of_lists(inputs, plus(*first, more));
}

// Optimizers: how often the elements of each list are moved. An empty list is not in use.
struct Optimizer {
  std::string_view op;
  std::array<uint8_t, 6> moved;  // 1: read, 2: read and written
  size_t steps;                  // a list of one float each, read; another kernel updates them
  size_t scale;                  // a tensor; if it is given, gradients are written too
};
constexpr Optimizer kOptimizers[] = {{"_fused_adam_", {2, 1, 2, 2, 2, 0}, 5, 13},
                                     {"_fused_adamw_", {2, 1, 2, 2, 2, 0}, 5, 13},
                                     {"_fused_sgd_", {2, 1, 2, 0, 0, 0}, 0, 10},
                                     {"_fused_adagrad_", {2, 1, 2, 0, 0, 0}, 3, 9}};

OpCost optimizer(const Optimizer& form, const OpInputs& inputs) {
  uint64_t elements = 0;
  for (size_t i = 0; i < form.moved.size(); ++i) {
    if (form.moved[i] == 0) continue;
    const std::optional<uint64_t> one = elements_of_list(inputs, i);
    if (!one && i < 2) return without_bytes(NoCost::NoShapes);
    elements = plus(elements, times(form.moved[i] + (i == 1 && inputs.is_tensor(form.scale) ? 1 : 0), one.value_or(0)));
  }
  const uint64_t steps = form.steps == 0 ? 0 : inputs.tensors(form.steps).size();
  return of_lists(inputs, elements, times(4, steps));
}

}  // namespace

std::optional<OpCost> list_cost(std::string_view op, const OpInputs& inputs) {
  if (op == "cat") return cat(inputs);
  for (const Optimizer& form : kOptimizers) {
    if (form.op == op) return optimizer(form, inputs);
  }
  constexpr std::string_view kForeach = "_foreach_";
  if (!op.starts_with(kForeach)) return std::nullopt;
  op.remove_prefix(kForeach.size());
  if (op == "copy_" || op == "zero_" || op == "norm") return foreach_moved(inputs, op);
  if (op.ends_with('_')) op.remove_suffix(1);
  const size_t operands = elementwise_operands(op);
  if (operands == 0) return std::nullopt;
  return foreach_elementwise(inputs, operands);
}

}  // namespace prof::analyzer
