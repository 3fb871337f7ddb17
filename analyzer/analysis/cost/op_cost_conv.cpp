// What do convolutions cost? 2·N·∏(positions of the kernel)·∏(kernel)·Cin·Cout/groups FLOPs. The positions are
// those of the output, or of the input if the convolution is transposed. Each gradient has as many. Bytes: input,
// weight, bias and output once.
#include "analyzer/analysis/cost/op_cost.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

constexpr size_t kAbsent = SIZE_MAX;

// Indices of the arguments. Absent arguments have their defaults (stride 1, padding 0, dilation 1, groups 1, not
// transposed).
struct Signature {
  std::string_view op;
  size_t bias, stride, padding, dilation, transposed, output_padding, groups;
  bool is_transposed;
};
constexpr Signature kSignatures[] = {{"convolution", 2, 3, 4, 5, 6, 7, 8, false},
                                     {"_convolution", 2, 3, 4, 5, 6, 7, 8, false},
                                     {"convolution_overrideable", 2, 3, 4, 5, 6, 7, 8, false},
                                     {"conv1d", 2, 3, 4, 5, kAbsent, kAbsent, 6, false},
                                     {"conv2d", 2, 3, 4, 5, kAbsent, kAbsent, 6, false},
                                     {"conv3d", 2, 3, 4, 5, kAbsent, kAbsent, 6, false},
                                     {"conv_transpose1d", 2, 3, 4, 7, kAbsent, 5, 6, true},
                                     {"conv_transpose2d", 2, 3, 4, 7, kAbsent, 5, 6, true},
                                     {"conv_transpose3d", 2, 3, 4, 7, kAbsent, 5, 6, true},
                                     {"cudnn_convolution", kAbsent, 3, 2, 4, kAbsent, kAbsent, 5, false},
                                     {"cudnn_convolution_transpose", kAbsent, 4, 2, 5, kAbsent, 3, 6, true},
                                     {"cudnn_convolution_relu", 2, 3, 4, 5, kAbsent, kAbsent, 6, false},
                                     {"miopen_convolution", 2, 4, 3, 5, kAbsent, kAbsent, 6, false},
                                     {"miopen_convolution_transpose", 2, 5, 3, 6, kAbsent, 4, 7, true},
                                     {"miopen_depthwise_convolution", 2, 4, 3, 5, kAbsent, kAbsent, 6, false},
                                     {"_slow_conv2d_forward", 3, 4, 5, kAbsent, kAbsent, kAbsent, kAbsent, false},
                                     {"slow_conv3d_forward", 3, 4, 5, kAbsent, kAbsent, kAbsent, kAbsent, false},
                                     {"_conv_depthwise2d", 3, 4, 5, 6, kAbsent, kAbsent, kAbsent, false},
                                     {"conv_depthwise3d", 3, 4, 5, 6, kAbsent, kAbsent, kAbsent, false}};

// A single number applies to all dimensions.
std::optional<Shape> per_axis(const OpInputs& inputs, size_t argument, size_t axes, uint64_t otherwise) {
  if (argument == kAbsent) return Shape(axes, otherwise);
  std::optional<Shape> given = inputs.list(argument);
  if (!given) {
    const std::optional<uint64_t> number = inputs.number(argument);
    if (!number) return std::nullopt;
    given = Shape{*number};
  }
  if (given->empty()) return Shape(axes, otherwise);
  if (given->size() == 1) return Shape(axes, given->front());
  return given->size() == axes ? given : std::nullopt;
}

// Size of the output along one axis; nullopt if the kernel does not fit.
std::optional<uint64_t> output_size(uint64_t input, uint64_t kernel, uint64_t stride, uint64_t padding,
                                    uint64_t dilation, uint64_t output_padding, bool transposed) {
  constexpr uint64_t kLargest = uint64_t{1} << 31;
  for (const uint64_t each : {input, kernel, stride, padding, dilation, output_padding}) {
    if (each > kLargest) return std::nullopt;
  }
  if (kernel == 0 || stride == 0 || input == 0) return std::nullopt;
  const uint64_t span = dilation * (kernel - 1) + 1;
  if (transposed) {
    const uint64_t grown = (input - 1) * stride + span + output_padding;
    return grown > 2 * padding ? std::optional(grown - 2 * padding) : std::nullopt;
  }
  const uint64_t padded = input + 2 * padding;
  return padded >= span ? std::optional((padded - span) / stride + 1) : std::nullopt;
}

OpCost forward(const Signature& signature, const OpInputs& inputs) {
  const std::optional<Shape> input = inputs.tensor(0), weight = inputs.tensor(1);
  if (!input || !weight) return no_cost(NoCost::NoShapes);
  if (weight->size() < 3 || input->size() != weight->size()) return no_cost(NoCost::Misfit);
  const size_t axes = weight->size() - 2;
  const std::optional<Shape> stride = per_axis(inputs, signature.stride, axes, 1),
                             padding = per_axis(inputs, signature.padding, axes, 0),
                             dilation = per_axis(inputs, signature.dilation, axes, 1),
                             output_padding = per_axis(inputs, signature.output_padding, axes, 0);
  const std::optional<bool> transposed =
      signature.transposed == kAbsent ? signature.is_transposed : inputs.flag(signature.transposed);
  // Depthwise convolutions have one group per channel. Their names contain "conv_depthwise".
  const bool depthwise = signature.op.find("conv_depthwise") != std::string_view::npos;
  const std::optional<uint64_t> groups = depthwise                     ? (*input)[1]
                                         : signature.groups == kAbsent ? uint64_t{1}
                                                                       : inputs.number(signature.groups);
  if (!stride || !padding || !dilation || !output_padding || !transposed || !groups)
    return no_cost(NoCost::NoArguments);
  const uint64_t channels = (*input)[1];
  const uint64_t wanted = *transposed ? (*weight)[0] : times((*weight)[1], *groups);
  if (*groups == 0 || wanted != channels) return no_cost(NoCost::Misfit);

  uint64_t places = 1, outputs = (*input)[0];
  for (size_t axis = 0; axis < axes; ++axis) {
    const std::optional<uint64_t> size =
        output_size((*input)[2 + axis], (*weight)[2 + axis], (*stride)[axis], (*padding)[axis], (*dilation)[axis],
                    (*output_padding)[axis], *transposed);
    if (!size) return no_cost(NoCost::Misfit);
    outputs = times(outputs, *size);
    places = times(places, *transposed ? (*input)[2 + axis] : *size);
  }
  outputs = times(outputs, *transposed ? times((*weight)[1], *groups) : (*weight)[0]);
  const std::optional<Shape> bias = signature.bias == kAbsent ? std::nullopt : inputs.tensor(signature.bias);
  OpCost cost;
  cost.type = inputs.type(0);
  set_matrix_cost(cost, times(2, times((*input)[0], times(places, elements_of(*weight)))),
                  plus(plus(elements_of(*input), elements_of(*weight)), plus(outputs, bias ? elements_of(*bias) : 0)));
  return cost;
}

// convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding,
// groups, output_mask). torch.utils.flop_counter does not divide the weight's gradient by the groups. Here each
// gradient has the FLOPs of the forward.
OpCost backward(const OpInputs& inputs) {
  const std::optional<Shape> gradient = inputs.tensor(0), input = inputs.tensor(1), weight = inputs.tensor(2);
  if (!gradient || !input || !weight) return no_cost(NoCost::NoShapes);
  const std::optional<bool> transposed = inputs.flag(7);
  const std::optional<std::vector<bool>> mask = inputs.flags(10);
  if (!transposed || !mask || mask->size() != 3) return no_cost(NoCost::NoArguments);
  if (weight->size() < 3 || input->size() != weight->size() || gradient->size() != weight->size() ||
      gradient->front() != input->front())
    return no_cost(NoCost::Misfit);
  uint64_t places = input->front();
  for (size_t axis = 2; axis < weight->size(); ++axis)
    places = times(places, (*(*transposed ? input : gradient))[axis]);
  const uint64_t one = times(2, times(places, elements_of(*weight)));
  OpCost cost;
  cost.type = inputs.type(1);
  cost.input_gradient = (*mask)[0] ? one : 0;
  cost.weight_gradient = (*mask)[1] ? one : 0;
  // The gradient of the output is read. The gradient of the input needs the weight and vice versa. Each requested
  // gradient is written.
  uint64_t elements = elements_of(*gradient);
  if ((*mask)[0]) elements = plus(elements, plus(elements_of(*weight), elements_of(*input)));
  if ((*mask)[1]) elements = plus(elements, plus(elements_of(*input), elements_of(*weight)));
  if ((*mask)[2]) elements = plus(elements, (*gradient)[1]);
  set_matrix_cost(cost, plus(cost.input_gradient, cost.weight_gradient), elements);
  return cost;
}

}  // namespace

std::optional<OpCost> conv_cost(std::string_view op, const OpInputs& inputs) {
  if (op == "convolution_backward") return backward(inputs);
  const auto signature = std::find_if(std::begin(kSignatures), std::end(kSignatures),
                                      [&](const Signature& each) { return each.op == op; });
  if (signature == std::end(kSignatures)) return std::nullopt;
  return forward(*signature, inputs);
}

}  // namespace prof::analyzer
