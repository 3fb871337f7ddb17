// What do products of matrices cost? 2·m·n·k FLOPs, times b for a batch. Products with vectors have 2·m·n and 2·n
// and do not use tensor cores. Bytes: both operands, the result and the added matrix or bias once; for narrow types
// also the scales.
#include "analyzer/analysis/cost/op_cost.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

// Which argument is the first factor, and whether argument 0 is added.
struct Product {
  std::string_view op;
  size_t first;
  bool added;    // argument 0 is the added matrix
  size_t batch;  // number of dimensions before the matrices
};
constexpr Product kProducts[] = {
    {"mm", 0, false, 0},     {"addmm", 1, true, 0},    {"addmm_", 1, true, 0},   {"bmm", 0, false, 1},
    {"baddbmm", 1, true, 1}, {"baddbmm_", 1, true, 1}, {"_int_mm", 0, false, 0}, {"_addmm_activation", 1, true, 0}};

// Products whose result type is the argument `out_type`. If it is None, the type is `otherwise`, or that of the first
// factor.
struct ScaledProduct {
  std::string_view op;
  size_t scales, ends;  // tensors between these are operands too: scales, and a bias
  size_t groups;        // argument with the ends of groups along a dimension; SIZE_MAX: one product
  size_t out_type;
  DataType otherwise;
};
constexpr ScaledProduct kScaledProducts[] = {{"_scaled_mm", 2, 6, SIZE_MAX, 6, DataType::Unknown},
                                             {"_scaled_mm_v2", 2, 9, SIZE_MAX, 9, DataType::Unknown},
                                             {"_grouped_mm", 3, 4, 2, 4, DataType::Unknown},
                                             {"_scaled_grouped_mm", 2, 7, 4, 7, DataType::Bf16}};

struct ProductSizes {
  uint64_t count = 1, m = 0, n = 0, k = 0;
};
// Sizes of two factors with `batch` leading dimensions. nullopt: they do not fit each other.
std::optional<ProductSizes> product_sizes(const Shape& a, const Shape& b, size_t batch) {
  if (a.size() != 2 + batch || b.size() != 2 + batch) return std::nullopt;
  if (a[batch + 1] != b[batch] || (batch == 1 && a.front() != b.front())) return std::nullopt;
  return ProductSizes{batch == 1 ? a.front() : 1, a[batch], b[batch + 1], a[batch + 1]};
}
uint64_t product_flops(const ProductSizes& sizes) {
  return times(2, times(sizes.count, times(sizes.m, times(sizes.n, sizes.k))));
}

OpCost product(const Product& form, const OpInputs& inputs) {
  const std::optional<Shape> a = inputs.tensor(form.first), b = inputs.tensor(form.first + 1);
  if (!a || !b) return no_cost(NoCost::NoShapes);
  const std::optional<ProductSizes> sizes = product_sizes(*a, *b, form.batch);
  if (!sizes) return no_cost(NoCost::Misfit);
  const uint64_t result = times(sizes->count, times(sizes->m, sizes->n));
  uint64_t elements = plus(elements_of(*a), elements_of(*b));
  // With beta = 0 the added matrix is not read.
  if (form.added && inputs.number(3) != uint64_t{0}) {
    const std::optional<Shape> added = inputs.tensor(0);
    if (!added) return no_cost(NoCost::NoShapes);
    elements = plus(elements, elements_of(*added));
  }
  OpCost cost;
  cost.type = inputs.type(form.first);
  set_matrix_cost(cost, product_flops(*sizes), plus(elements, result));
  if (form.op == "_int_mm" && cost.bytes) cost.bytes = plus(elements, times(result, bytes_of(DataType::Int32)));
  return cost;
}

// The type of the result. Unknown: not in the trace.
DataType result_type(const ScaledProduct& form, const OpInputs& inputs) {
  if (const std::optional<uint64_t> number = inputs.number(form.out_type)) return scalar_type(*number);
  if (inputs.is_none(form.out_type) != true) return DataType::Unknown;
  return form.otherwise == DataType::Unknown ? inputs.type(0) : form.otherwise;
}

OpCost scaled_product(const ScaledProduct& form, const OpInputs& inputs) {
  const std::optional<Shape> a = inputs.tensor(0), b = inputs.tensor(1);
  if (!a || !b) return no_cost(NoCost::NoShapes);
  const bool grouped = form.groups != SIZE_MAX;
  // A two-dimensional factor is split into groups along one dimension. Only a tensor in GPU memory has the ends of the
  // groups.
  if (grouped && (a->size() == 2 || b->size() == 2)) return no_cost(NoCost::Varying);
  std::optional<ProductSizes> sizes = product_sizes(*a, *b, grouped ? 1 : 0);
  if (!sizes || values_in(inputs.type(0)) != values_in(inputs.type(1))) return no_cost(NoCost::Misfit);
  sizes->k = times(sizes->k, values_in(inputs.type(0)));
  OpCost cost;
  cost.type = inputs.type(0);
  set_matrix_cost(cost, product_flops(*sizes), 0);
  cost.bytes.reset();
  const uint64_t size_a = bytes_of(inputs.type(0)), size_b = bytes_of(inputs.type(1));
  cost.no_bytes = size_a == 0 || size_b == 0 ? NoCost::NoType : NoCost::NoArguments;
  const DataType result = result_type(form, inputs);
  if (size_a == 0 || size_b == 0 || bytes_of(result) == 0) return cost;
  // Two values of fp4 are in one byte.
  uint64_t bytes = times(times(sizes->count, times(sizes->m, sizes->n)), bytes_of(result)) / values_in(result);
  bytes = plus(bytes, plus(times(elements_of(*a), size_a), times(elements_of(*b), size_b)));
  for (size_t i = form.scales; i < form.ends; ++i) {
    if (inputs.is_tensor_list(i)) {
      cost.no_bytes = NoCost::NoType;
      return cost;
    }
    const std::optional<Shape> operand = inputs.is_tensor(i) ? inputs.tensor(i) : std::nullopt;
    if (operand && i != form.groups) bytes = plus(bytes, times(elements_of(*operand), bytes_of(inputs.type(i))));
  }
  cost.bytes = bytes;
  cost.no_bytes = NoCost::None;
  return cost;
}

// input[…, k] · weight[n, k] and a bias.
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

// matrix[m, n] · vector[n], and an added vector that is read unless beta is 0.
OpCost vector_product(const OpInputs& inputs, bool added) {
  const size_t first = added ? 1 : 0;
  const std::optional<Shape> matrix = inputs.tensor(first), vector = inputs.tensor(first + 1);
  if (!matrix || !vector) return no_cost(NoCost::NoShapes);
  if (matrix->size() != 2 || vector->size() != 1 || matrix->back() != vector->front()) return no_cost(NoCost::Misfit);
  uint64_t elements = plus(elements_of(*matrix), plus(vector->front(), matrix->front()));
  if (added && inputs.number(3) != uint64_t{0}) {
    const std::optional<Shape> more = inputs.tensor(0);
    if (!more) return no_cost(NoCost::NoShapes);
    elements = plus(elements, elements_of(*more));
  }
  OpCost cost;
  cost.type = inputs.type(first);
  set_matrix_cost(cost, times(2, elements_of(*matrix)), elements);
  cost.matrix = false;
  return cost;
}

OpCost dot(const OpInputs& inputs) {
  const std::optional<Shape> a = inputs.tensor(0), b = inputs.tensor(1);
  if (!a || !b) return no_cost(NoCost::NoShapes);
  if (a->size() != 1 || *a != *b) return no_cost(NoCost::Misfit);
  OpCost cost;
  cost.type = inputs.type(0);
  set_matrix_cost(cost, times(2, a->front()), plus(times(2, a->front()), 1));
  cost.matrix = false;
  return cost;
}

}  // namespace

std::optional<OpCost> gemm_cost(std::string_view op, const OpInputs& inputs) {
  if (op == "linear") return linear(inputs);
  if (op == "mv") return vector_product(inputs, false);
  if (op == "addmv" || op == "addmv_") return vector_product(inputs, true);
  if (op == "dot" || op == "vdot") return dot(inputs);
  const auto form =
      std::find_if(std::begin(kProducts), std::end(kProducts), [&](const Product& each) { return each.op == op; });
  if (form != std::end(kProducts)) return product(*form, inputs);
  const auto scaled = std::find_if(std::begin(kScaledProducts), std::end(kScaledProducts),
                                   [&](const ScaledProduct& each) { return each.op == op; });
  if (scaled != std::end(kScaledProducts)) return scaled_product(*scaled, inputs);
  return std::nullopt;
}

}  // namespace prof::analyzer
