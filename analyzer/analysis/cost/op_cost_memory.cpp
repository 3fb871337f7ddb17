// What do operators cost that are limited by memory: elementwise operators, copies, softmax, embedding, sums? They have
// bytes: each operand is read once and each result is written once. Their FLOPs are not counted, as in
// torch.utils.flop_counter.
#include "analyzer/analysis/cost/op_cost_bytes.h"

namespace prof::analyzer {

namespace {

// All tensors are read. One result of the broadcast shape is written, in the promoted type. With "_" at the end of the
// name, the first tensor is written in place.
struct Elementwise {
  std::string_view name;
  size_t operands;
};
constexpr Elementwise kElementwise[] = {{"abs", 1},
                                        {"add", 2},
                                        {"addcdiv", 3},
                                        {"addcmul", 3},
                                        {"bitwise_and", 2},
                                        {"bitwise_not", 1},
                                        {"bitwise_or", 2},
                                        {"ceil", 1},
                                        {"clamp", 3},
                                        {"clamp_max", 2},
                                        {"clamp_min", 2},
                                        {"cos", 1},
                                        {"div", 2},
                                        {"elu", 1},
                                        {"erf", 1},
                                        {"exp", 1},
                                        {"expm1", 1},
                                        {"floor", 1},
                                        {"gelu", 1},
                                        {"gelu_backward", 2},
                                        {"hardsigmoid", 1},
                                        {"hardswish", 1},
                                        {"hardtanh", 1},
                                        {"leaky_relu", 1},
                                        {"lerp", 3},
                                        {"log", 1},
                                        {"log1p", 1},
                                        {"masked_fill", 3},
                                        {"maximum", 2},
                                        {"minimum", 2},
                                        {"mish", 1},
                                        {"mul", 2},
                                        {"neg", 1},
                                        {"pow", 2},
                                        {"reciprocal", 1},
                                        {"relu", 1},
                                        {"remainder", 2},
                                        {"round", 1},
                                        {"rsqrt", 1},
                                        {"rsub", 2},
                                        {"sigmoid", 1},
                                        {"sigmoid_backward", 2},
                                        {"sign", 1},
                                        {"silu", 1},
                                        {"silu_backward", 2},
                                        {"sin", 1},
                                        {"softplus", 1},
                                        {"sqrt", 1},
                                        {"square", 1},
                                        {"sub", 2},
                                        {"tanh", 1},
                                        {"tanh_backward", 2},
                                        {"threshold_backward", 2},
                                        {"trunc", 1},
                                        {"where", 3}};
constexpr Elementwise kComparisons[] = {{"eq", 2},         {"ge", 2}, {"gt", 2},          {"isinf", 1},
                                        {"isnan", 1},      {"le", 2}, {"logical_and", 2}, {"logical_not", 1},
                                        {"logical_or", 2}, {"lt", 2}, {"ne", 2}};

// 0: not in the list.
template <size_t N> size_t operands_of(const Elementwise (&list)[N], std::string_view op) {
  const auto* const found =
      std::find_if(std::begin(list), std::end(list), [&](const Elementwise& each) { return each.name == op; });
  return found == std::end(list) ? 0 : found->operands;
}

// The larger category decides, within a category the larger type. Half and bfloat16 together become float.
DataType promoted(DataType a, DataType b) {
  if (a == b || b == DataType::Unknown) return a;
  if (a == DataType::Unknown) return b;
  if ((a == DataType::Fp16 && b == DataType::Bf16) || (a == DataType::Bf16 && b == DataType::Fp16))
    return DataType::Fp32;
  return std::max(a, b);
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape both(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < both.size(); ++i) {
    const uint64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    both[both.size() - 1 - i] = x == 1 ? y : x;
  }
  return both;
}

OpCost elementwise(const OpInputs& inputs, size_t operands, bool in_place, bool to_bool) {
  uint64_t read = 0;
  std::optional<DataType> out;
  Shape shape;
  DataType type = DataType::Unknown, of_scalars = DataType::Unknown;
  bool any = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs.is_tensor(i)) continue;
    if (i >= operands) {
      out = inputs.type(i);
      continue;
    }
    const std::optional<Shape> one = inputs.tensor(i);
    if (!one) return without_bytes(NoCost::NoShapes);
    const std::optional<uint64_t> bytes = bytes_of_tensor(inputs, i);
    if (!bytes) return without_bytes(NoCost::NoType);
    const std::optional<Shape> both = broadcast(shape, *one);
    if (!both) return without_bytes(NoCost::Misfit);
    shape = *both;
    // A tensor without dimensions affects the result type only if all tensors are such. The condition of where() is
    // bool, the lowest type.
    DataType& kind = one->empty() ? of_scalars : type;
    kind = promoted(kind, inputs.type(i));
    read = plus(read, *bytes);
    any = true;
  }
  if (!any) return without_bytes(NoCost::NoShapes);
  if (type == DataType::Unknown) type = of_scalars;
  const DataType written = in_place ? inputs.type(0) : out ? *out : to_bool ? DataType::Bool : type;
  if (bytes_of(written) == 0) return without_bytes(NoCost::NoType);
  return bytes_only(type, plus(read, times(elements_of(shape), bytes_of(written))));
}

// Reads argument 1, writes argument 0.
OpCost copy(const OpInputs& inputs) {
  const std::optional<uint64_t> to = bytes_of_tensor(inputs, 0), from = bytes_of_tensor(inputs, 1);
  if (!to || !from) return without_bytes(NoCost::NoShapes);
  return bytes_only(inputs.type(0), plus(*to, *from));
}

OpCost fill(const OpInputs& inputs) {
  const std::optional<uint64_t> bytes = bytes_of_tensor(inputs, 0);
  return bytes ? bytes_only(inputs.type(0), bytes) : without_bytes(NoCost::NoShapes);
}

// embedding(weight[rows, d], indices): the rows at the indices are read and written.
OpCost embedding(const OpInputs& inputs) {
  const std::optional<Shape> weight = inputs.tensor(0), indices = inputs.tensor(1);
  const std::optional<uint64_t> of_indices = bytes_of_tensor(inputs, 1);
  const uint64_t size = bytes_of(inputs.type(0));
  if (!weight || !indices) return without_bytes(NoCost::NoShapes);
  if (size == 0 || !of_indices) return without_bytes(NoCost::NoType);
  if (weight->size() != 2) return without_bytes(NoCost::Misfit);
  const uint64_t rows = times(times(elements_of(*indices), weight->back()), size);
  return bytes_only(inputs.type(0), plus(*of_indices, times(2, rows)));
}

// embedding_dense_backward(gradient[…, d], indices, rows, …): writes the gradient of the whole table.
OpCost embedding_backward(const OpInputs& inputs) {
  const std::optional<Shape> gradient = inputs.tensor(0);
  const std::optional<uint64_t> read = bytes_of_tensor(inputs, 0), indices = bytes_of_tensor(inputs, 1);
  const std::optional<uint64_t> rows = inputs.number(2);
  if (!gradient || gradient->empty() || !read || !indices) return without_bytes(NoCost::NoShapes);
  if (!rows) return without_bytes(NoCost::NoArguments);
  const uint64_t table = times(times(*rows, gradient->back()), bytes_of(inputs.type(0)));
  return bytes_only(inputs.type(0), plus(plus(*read, *indices), table));
}

// sum(input, dims, keep): the result has the dimensions that are not summed over; without dims it has one element.
OpCost reduction(const OpInputs& inputs) {
  const std::optional<Shape> input = inputs.tensor(0);
  const std::optional<uint64_t> read = bytes_of_tensor(inputs, 0);
  if (!input || !read) return without_bytes(NoCost::NoShapes);
  uint64_t left = 1;
  if (inputs.has_value(1)) {  // otherwise the sum is over all dimensions
    const std::optional<Shape> axes = inputs.axes(1, input->size());
    if (!axes) return without_bytes(NoCost::NoArguments);
    for (size_t axis = 0; !axes->empty() && axis < input->size(); ++axis) {
      if (std::find(axes->begin(), axes->end(), axis) == axes->end()) left = times(left, (*input)[axis]);
    }
  } else if (inputs.size() > 1 && !inputs.has_types()) {
    return without_bytes(NoCost::NoArguments);
  }
  return bytes_only(inputs.type(0), plus(*read, times(left, bytes_of(inputs.type(0)))));
}

OpCost dropout(const OpInputs& inputs) {
  const std::optional<Shape> input = inputs.tensor(0);
  return as_large_out(inputs, 1, input ? elements_of(*input) : 0);  // and a mask of one byte per element
}

}  // namespace

size_t elementwise_operands(std::string_view op) { return operands_of(kElementwise, op); }

OpCost as_large_out(const OpInputs& inputs, uint64_t times_out, uint64_t more_bytes) {
  const std::optional<uint64_t> first = bytes_of_tensor(inputs, 0);
  if (!first) return without_bytes(NoCost::NoShapes);
  uint64_t bytes = plus(times(*first, 1 + times_out), more_bytes);
  for (size_t i = 1; i < inputs.size(); ++i) {
    if (!inputs.is_tensor(i)) continue;
    const std::optional<uint64_t> one = bytes_of_tensor(inputs, i);
    if (!one) return without_bytes(NoCost::NoShapes);
    bytes = plus(bytes, *one);
  }
  return bytes_only(inputs.type(0), bytes);
}

std::optional<OpCost> memory_cost(std::string_view op, const OpInputs& inputs) {
  const bool in_place = op.size() > 1 && op.back() == '_';
  const std::string_view plain = in_place ? op.substr(0, op.size() - 1) : op;
  if (const size_t operands = elementwise_operands(plain); operands != 0)
    return elementwise(inputs, operands, in_place, false);
  if (const size_t operands = operands_of(kComparisons, plain); operands != 0)
    return elementwise(inputs, operands, in_place, true);
  if (op == "copy_") return copy(inputs);
  if (op == "fill_" || op == "zero_") return fill(inputs);
  if (op == "native_dropout") return dropout(inputs);
  if (op == "native_dropout_backward") return as_large_out(inputs, 1);
  if (op == "_softmax" || op == "_log_softmax" || op == "_softmax_backward_data" || op == "_log_softmax_backward_data")
    return as_large_out(inputs, 1);
  if (op == "embedding") return embedding(inputs);
  if (op == "embedding_dense_backward") return embedding_backward(inputs);
  if (op == "sum" || op == "mean" || op == "amax" || op == "amin") return reduction(inputs);
  return std::nullopt;
}

}  // namespace prof::analyzer
