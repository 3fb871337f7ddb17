// What do normalisations cost? Bytes of the input, scale and shift, the result, and the mean and 1/deviation that the
// backward needs. A backward reads the gradient, the input and these, and writes the requested gradients.
#include "analyzer/analysis/cost/op_cost_bytes.h"

namespace prof::analyzer {

namespace {

// Statistics are float unless the input is double.
uint64_t statistic_bytes(DataType type) { return type == DataType::Fp64 ? 8 : 4; }

// Arguments: input, normalized shape, …. `statistics` numbers per row are written too.
OpCost row_norm(const OpInputs& inputs, uint64_t statistics) {
  const std::optional<Shape> input = inputs.tensor(0), normalized = inputs.list(1);
  if (!input) return without_bytes(NoCost::NoShapes);
  if (!normalized) return without_bytes(NoCost::NoArguments);
  if (normalized->size() > input->size()) return without_bytes(NoCost::Misfit);
  const uint64_t rows = elements_of(Shape(input->begin(), input->end() - static_cast<ptrdiff_t>(normalized->size())));
  return as_large_out(inputs, 1, times(rows, statistics * statistic_bytes(inputs.type(0))));
}

// native_group_norm(input, weight, bias, N, C, HxW, groups, eps): writes mean and 1/deviation of each of N × groups,
// in the type of the weight or, without a weight, of the input.
OpCost group_norm(const OpInputs& inputs) {
  const std::optional<uint64_t> batch = inputs.number(3), groups = inputs.number(6);
  if (!inputs.tensor(0)) return without_bytes(NoCost::NoShapes);
  if (!batch || !groups) return without_bytes(NoCost::NoArguments);
  const uint64_t size = bytes_of(inputs.type(inputs.is_tensor(1) ? 1 : 0));
  return as_large_out(inputs, 1, times(times(*batch, *groups), 2 * size));
}

// Reads the gradient and the input. Writes the gradient of the input, and those of weight and bias (one value per
// channel each).
OpCost norm_backward(const OpInputs& inputs, size_t weight) {
  const std::optional<uint64_t> of_weight = bytes_of_tensor(inputs, weight);
  return as_large_out(inputs, 1, of_weight ? times(2, *of_weight) : 0);
}

// Indices of the arguments of a backward with an output mask.
struct MaskedBackward {
  std::string_view op;
  size_t input, weight, mask;
  size_t gradients;  // number of gradients: of input, weight and perhaps bias
  size_t training;   // batch norm: argument that selects the statistics; 0: none
};
constexpr MaskedBackward kMaskedBackwards[] = {{"native_group_norm_backward", 1, 4, 9, 3, 0},
                                               {"_fused_rms_norm_backward", 1, 4, 5, 2, 0},
                                               {"native_batch_norm_backward", 1, 2, 9, 3, 7}};

OpCost masked_backward(const MaskedBackward& form, const OpInputs& inputs) {
  const std::optional<Shape> input = inputs.tensor(form.input);
  const std::optional<std::vector<bool>> mask = inputs.flags(form.mask);
  const std::optional<bool> training = form.training == 0 ? std::optional(true) : inputs.flag(form.training);
  if (!input) return without_bytes(NoCost::NoShapes);
  if (!mask || mask->size() != form.gradients || !training) return without_bytes(NoCost::NoArguments);
  uint64_t bytes = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs.is_tensor(i)) continue;
    // Batch norm: arguments 3 and 4 are the running mean and variance, 5 and 6 those of the batch.
    if (form.training != 0 && (*training ? i == 3 || i == 4 : i == 5 || i == 6)) continue;
    const std::optional<uint64_t> one = bytes_of_tensor(inputs, i);
    if (!one) return without_bytes(NoCost::NoType);
    bytes = plus(bytes, *one);
  }
  // If there is a weight, each channel has one. Without a weight, there are no gradients of weight and bias either.
  const uint64_t of_weight = bytes_of_tensor(inputs, form.weight).value_or(0);
  const uint64_t of_input = bytes_of_tensor(inputs, form.input).value_or(0);
  for (size_t i = 0; i < mask->size(); ++i) {
    if ((*mask)[i]) bytes = plus(bytes, i == 0 ? of_input : of_weight);
  }
  return bytes_only(inputs.type(form.input), bytes);
}

}  // namespace

std::optional<OpCost> norm_cost(std::string_view op, const OpInputs& inputs) {
  if (op == "native_layer_norm") return row_norm(inputs, 2);
  if (op == "_fused_rms_norm") return row_norm(inputs, 1);
  if (op == "rms_norm") return row_norm(inputs, 0);
  if (op == "native_group_norm") return group_norm(inputs);
  if (op == "native_layer_norm_backward") return norm_backward(inputs, 5);
  if (op == "cudnn_batch_norm" || op == "native_batch_norm" || op == "miopen_batch_norm")
    return as_large_out(inputs, 1);
  if (op == "cudnn_batch_norm_backward") return norm_backward(inputs, 2);
  for (const MaskedBackward& form : kMaskedBackwards) {
    if (form.op == op) return masked_backward(form, inputs);
  }
  return std::nullopt;
}

}  // namespace prof::analyzer
