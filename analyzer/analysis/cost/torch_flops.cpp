#include "analyzer/analysis/cost/torch_flops.h"

#include "analyzer/analysis/cost/op_inputs.h"
#include "analyzer/base/json/json_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace prof::analyzer {

namespace {

class Inputs {
 public:
  Inputs(std::string_view dims, std::string_view concrete)
      : dims_(json_elements(dims)), concrete_(json_elements(concrete)) {}

  std::optional<Shape> tensor(size_t i) const { return i < dims_.size() ? json_shape(dims_[i]) : std::nullopt; }
  // A concrete list of numbers: "\"[2, 2]\"".
  std::optional<Shape> list(size_t i) const {
    const std::optional<std::string_view> text = value(i);
    return text ? json_shape(*text) : std::nullopt;
  }
  std::optional<uint64_t> number(size_t i) const {
    const std::optional<std::string_view> text = value(i);
    uint64_t number = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc()) return {};
    return number;
  }

 private:
  std::optional<std::string_view> value(size_t i) const {
    if (i >= concrete_.size()) return std::nullopt;
    return unquoted(concrete_[i]);
  }
  std::vector<std::string_view> dims_, concrete_;
};

// 0 (unknown) for a number that does not fit 64 bits, which comes from a damaged shape.
uint64_t that_fits(uint64_t flops) { return flops == UINT64_MAX ? 0 : flops; }

// 2·M·N·K: 2 times all elements of the first matrix without its last dimension, times all elements of the second.
uint64_t gemm(const Inputs& inputs, size_t first) {
  const std::optional<Shape> a = inputs.tensor(first), b = inputs.tensor(first + 1);
  if (!a || !b || a->empty() || a->back() == 0) return 0;
  return that_fits(times(times(that_fits(elements_of(*a)) / a->back(), elements_of(*b)), 2));
}

// 2·B·M·N·K: as gemm(), with the batch counted once.
uint64_t batched_gemm(const Inputs& inputs, size_t first) {
  const std::optional<Shape> a = inputs.tensor(first), b = inputs.tensor(first + 1);
  if (!a || !b || a->empty() || a->back() == 0 || b->size() < 3) return 0;
  const uint64_t batch = (*b)[b->size() - 3];
  if (batch == 0) return 0;
  return that_fits(times(times(that_fits(elements_of(*a)) / a->back() / batch, elements_of(*b)), 2));
}

// 2·N·Cin·Cout·Kh·Kw·Hout·Wout / groups, Hout = (H + 2·padding − dilation·(Kh − 1) − 1) / stride + 1.
uint64_t conv2d(const Inputs& inputs) {
  const std::optional<Shape> input = inputs.tensor(0), weight = inputs.tensor(1);
  const std::optional<Shape> stride = inputs.list(3), padding = inputs.list(4), dilation = inputs.list(5);
  const std::optional<uint64_t> groups = inputs.number(6);
  if (!input || !weight || !stride || !padding || !dilation || !groups || *groups == 0) return 0;
  if (input->size() != 4 || weight->size() != 4) return 0;
  uint64_t flops = times(
      2, times((*input)[0], times((*input)[1], that_fits(elements_of(*weight)) / std::max<uint64_t>(1, (*weight)[1]))));
  for (size_t axis = 0; axis < 2; ++axis) {
    if (stride->size() <= axis || padding->size() <= axis || dilation->size() <= axis || (*stride)[axis] == 0) return 0;
    const uint64_t kernel = (*weight)[2 + axis];
    const uint64_t span = times((*dilation)[axis], kernel == 0 ? 0 : kernel - 1);
    const uint64_t padded = plus((*input)[2 + axis], times(2, (*padding)[axis]));
    if (padded == UINT64_MAX || padded < span || padded - span < 1) return 0;
    flops = times(flops, (padded - span - 1) / (*stride)[axis] + 1);
  }
  return that_fits(flops) / *groups;
}

}  // namespace

uint64_t torch_flops(std::string_view op, std::string_view dims, std::string_view concrete) {
  if (!op.starts_with("aten::") || dims.empty()) return 0;
  op.remove_prefix(6);
  if (op == "mm") return gemm(Inputs(dims, concrete), 0);
  if (op == "addmm") return gemm(Inputs(dims, concrete), 1);
  if (op == "bmm") return batched_gemm(Inputs(dims, concrete), 0);
  if (op == "baddbmm") return batched_gemm(Inputs(dims, concrete), 1);
  if (op == "conv2d") return conv2d(Inputs(dims, concrete));
  if (op == "mul" || op == "add") {
    const std::optional<Shape> first = Inputs(dims, concrete).tensor(0);
    return first ? that_fits(elements_of(*first)) : 0;
  }
  return 0;
}

std::string torch_shapes(std::string_view dims) {
  if (dims.empty()) return "[]";
  if (dims.front() != '[') return std::string(dims);
  std::string text = "[";
  for (const std::string_view each : json_elements(dims)) {
    if (text.size() > 1) text += ", ";
    if (each.find('[', 1) != std::string_view::npos) {
      text += "[]";  // a list of tensors
      continue;
    }
    for (const char c : each) {
      if (c == ' ' || c == '\n') continue;
      text += c;
      if (c == ',') text += ' ';
    }
  }
  return text + "]";
}

}  // namespace prof::analyzer
