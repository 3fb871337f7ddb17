// What does pooling cost? The forward reads the input and writes the result; max pooling also writes the position of
// each maximum (int64). A backward reads the gradient and these positions, and writes a gradient as large as the input.
#include "analyzer/analysis/cost/op_cost_bytes.h"

namespace prof::analyzer {

namespace {

struct Pool {
  std::string_view op;
  size_t axes;
  bool largest;                    // with indices and a dilation
  size_t padding, dilation, ceil;  // indices of arguments; kernel and stride are 1 and 2
};
constexpr Pool kPools[] = {{"max_pool2d_with_indices", 2, true, 3, 4, 5},
                           {"max_pool3d_with_indices", 3, true, 3, 4, 5},
                           {"avg_pool2d", 2, false, 3, 0, 4},
                           {"avg_pool3d", 3, false, 3, 0, 4}};

// A single number applies to all axes. For an empty list the result is `otherwise`.
std::optional<Shape> pool_sizes(const OpInputs& inputs, size_t argument, size_t axes, const Shape& otherwise) {
  std::optional<Shape> given = inputs.list(argument);
  if (!given) {
    const std::optional<uint64_t> number = inputs.number(argument);
    if (!number) return std::nullopt;
    given = Shape{*number};
  }
  if (given->empty()) return otherwise;
  if (given->size() == 1) return Shape(axes, given->front());
  return given->size() == axes ? given : std::nullopt;
}

// As torch.nn.MaxPool2d defines it: the last window begins inside the input or inside its left padding.
std::optional<uint64_t> pooled_size(uint64_t input, uint64_t kernel, uint64_t stride, uint64_t padding,
                                    uint64_t dilation, bool ceil) {
  constexpr uint64_t kLargest = uint64_t{1} << 31;
  if (std::max({input, kernel, stride, padding, dilation}) > kLargest || kernel == 0 || stride == 0)
    return std::nullopt;
  const uint64_t span = dilation * (kernel - 1) + 1, padded = input + 2 * padding;
  if (padded < span) return std::nullopt;
  uint64_t places = (padded - span + (ceil ? stride - 1 : 0)) / stride + 1;
  if (ceil && (places - 1) * stride >= input + padding) --places;
  return places;
}

OpCost pool(const Pool& form, const OpInputs& inputs) {
  const std::optional<Shape> input = inputs.tensor(0);
  const std::optional<uint64_t> read = bytes_of_tensor(inputs, 0);
  if (!input) return without_bytes(NoCost::NoShapes);
  if (!read) return without_bytes(NoCost::NoType);
  if (input->size() < form.axes + 1) return without_bytes(NoCost::Misfit);
  const std::optional<Shape> kernel = pool_sizes(inputs, 1, form.axes, {});
  const std::optional<Shape> stride = kernel ? pool_sizes(inputs, 2, form.axes, *kernel) : std::nullopt;
  const std::optional<Shape> padding = pool_sizes(inputs, form.padding, form.axes, Shape(form.axes, 0));
  const std::optional<Shape> dilation =
      form.largest ? pool_sizes(inputs, form.dilation, form.axes, Shape(form.axes, 1)) : Shape(form.axes, 1);
  const std::optional<bool> ceil = inputs.flag(form.ceil);
  if (!kernel || kernel->empty() || !stride || !padding || !dilation || !ceil)
    return without_bytes(NoCost::NoArguments);
  uint64_t places = elements_of(Shape(input->begin(), input->end() - static_cast<ptrdiff_t>(form.axes)));
  for (size_t axis = 0; axis < form.axes; ++axis) {
    const std::optional<uint64_t> size =
        pooled_size(input->end()[static_cast<ptrdiff_t>(axis) - static_cast<ptrdiff_t>(form.axes)], (*kernel)[axis],
                    (*stride)[axis], (*padding)[axis], (*dilation)[axis], *ceil);
    if (!size) return without_bytes(NoCost::Misfit);
    places = times(places, *size);
  }
  const uint64_t each = bytes_of(inputs.type(0)) + (form.largest ? 8 : 0);
  return bytes_only(inputs.type(0), plus(*read, times(places, each)));
}

// adaptive pooling(input, sizes of the result)
OpCost adaptive_pool(const OpInputs& inputs, bool largest) {
  const std::optional<Shape> input = inputs.tensor(0), sizes = inputs.list(1);
  const std::optional<uint64_t> read = bytes_of_tensor(inputs, 0);
  if (!input) return without_bytes(NoCost::NoShapes);
  if (!read) return without_bytes(NoCost::NoType);
  if (!sizes) return without_bytes(NoCost::NoArguments);
  if (sizes->empty() || input->size() <= sizes->size()) return without_bytes(NoCost::Misfit);
  const uint64_t in_front = elements_of(Shape(input->begin(), input->end() - static_cast<ptrdiff_t>(sizes->size())));
  const uint64_t each = bytes_of(inputs.type(0)) + (largest ? 8 : 0);
  return bytes_only(inputs.type(0), plus(*read, times(times(in_front, elements_of(*sizes)), each)));
}

// (gradient, input, …): only the size of the input is needed. `indices`: argument; 0: none.
OpCost pool_backward(const OpInputs& inputs, size_t indices) {
  const std::optional<uint64_t> gradient = bytes_of_tensor(inputs, 0), input = bytes_of_tensor(inputs, 1);
  const std::optional<uint64_t> places = indices == 0 ? std::optional<uint64_t>(0) : bytes_of_tensor(inputs, indices);
  if (!gradient || !input || !places) return without_bytes(NoCost::NoShapes);
  return bytes_only(inputs.type(0), plus(*gradient, plus(*input, *places)));
}

}  // namespace

std::optional<OpCost> pool_cost(std::string_view op, const OpInputs& inputs) {
  for (const Pool& form : kPools) {
    if (form.op == op) return pool(form, inputs);
  }
  if (op == "_adaptive_avg_pool2d" || op == "_adaptive_avg_pool3d") return adaptive_pool(inputs, false);
  if (op == "adaptive_max_pool2d" || op == "adaptive_max_pool3d") return adaptive_pool(inputs, true);
  if (op == "max_pool2d_with_indices_backward" || op == "max_pool3d_with_indices_backward")
    return pool_backward(inputs, 7);
  if (op == "avg_pool2d_backward" || op == "avg_pool3d_backward" || op == "_adaptive_avg_pool2d_backward" ||
      op == "_adaptive_avg_pool3d_backward")
    return pool_backward(inputs, 0);
  if (op == "adaptive_max_pool2d_backward" || op == "adaptive_max_pool3d_backward") return pool_backward(inputs, 2);
  return std::nullopt;
}

}  // namespace prof::analyzer
