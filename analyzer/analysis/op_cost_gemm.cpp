// Products of matrices: 2·m·n·k, b times for a batch. Bytes: both operands and the result once, and the matrix or bias that is
// added, once.
#include "analyzer/analysis/op_cost.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

// Which argument is the added matrix (or none) and which the first factor.
struct Product {
  std::string_view op;
  size_t first;
  bool added;    // argument 0 is added
  size_t batch;  // dimensions in front of the matrices
};
constexpr Product kProducts[] = {
    {"mm", 0, false, 0},     {"addmm", 1, true, 0},   {"addmm_", 1, true, 0},   {"_addmm_activation", 1, true, 0},
    {"bmm", 0, false, 1},    {"baddbmm", 1, true, 1}, {"baddbmm_", 1, true, 1}, {"_scaled_mm", 0, false, 0},
    {"_int_mm", 0, false, 0}};

OpCost product(const Product& form, const OpInputs& inputs) {
  const std::optional<Shape> a = inputs.tensor(form.first), b = inputs.tensor(form.first + 1);
  if (!a || !b) return no_cost(NoCost::NoShapes);
  const size_t batched = form.batch;
  if (a->size() != 2 + batched || b->size() != 2 + batched) return no_cost(NoCost::Misfit);
  if ((*a)[batched + 1] != (*b)[batched] || (batched == 1 && a->front() != b->front())) return no_cost(NoCost::Misfit);
  const uint64_t count = batched == 1 ? a->front() : 1;
  const uint64_t m = (*a)[batched], k = (*a)[batched + 1], n = (*b)[batched + 1];
  uint64_t elements = plus(plus(elements_of(*a), elements_of(*b)), times(count, times(m, n)));
  // beta = 0: what would be added is not read.
  if (form.added && inputs.number(3) != uint64_t{0}) {
    const std::optional<Shape> added = inputs.tensor(0);
    if (!added) return no_cost(NoCost::NoShapes);
    elements = plus(elements, elements_of(*added));
  }
  OpCost cost;
  cost.type = inputs.type(form.first);
  set_matrix_cost(cost, times(2, times(count, times(m, times(n, k)))), elements);
  // The result has a type of its own there.
  if (form.op == "_scaled_mm" || form.op == "_int_mm") {
    cost.bytes.reset();
    cost.no_bytes = NoCost::NoType;
  }
  return cost;
}

// input[…, k] · weight[n, k], and a bias.
OpCost linear(const OpInputs& inputs) {
  const std::optional<Shape> input = inputs.tensor(0), weight = inputs.tensor(1);
  if (!input || !weight) return no_cost(NoCost::NoShapes);
  if (input->empty() || weight->size() != 2 || input->back() != weight->back()) return no_cost(NoCost::Misfit);
  const uint64_t k = weight->back(), n = weight->front();
  const uint64_t m = elements_of(Shape(input->begin(), input->end() - 1));
  const std::optional<Shape> bias = inputs.tensor(2);
  OpCost cost;
  cost.type = inputs.type(0);
  const uint64_t operands = plus(elements_of(*input), elements_of(*weight));
  set_matrix_cost(cost, times(2, times(m, times(n, k))),
                  plus(plus(operands, times(m, n)), bias ? elements_of(*bias) : 0));
  return cost;
}

}  // namespace

std::optional<OpCost> gemm_cost(std::string_view op, const OpInputs& inputs) {
  if (op == "linear") return linear(inputs);
  const auto form =
      std::find_if(std::begin(kProducts), std::end(kProducts), [&](const Product& each) { return each.op == op; });
  if (form == std::end(kProducts)) return std::nullopt;
  return product(*form, inputs);
}

}  // namespace prof::analyzer
