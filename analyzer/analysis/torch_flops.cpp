#include "analyzer/analysis/torch_flops.h"

#include <charconv>
#include <optional>
#include <vector>

namespace prof::analyzer {

namespace {

using Shape = std::vector<uint64_t>;

// The top elements of a JSON array, as written: "[[2,3],\"x\",[]]" -> "[2,3]", "\"x\"", "[]".
std::vector<std::string_view> elements(std::string_view json) {
  std::vector<std::string_view> found;
  size_t depth = 0, begin = 0;
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (quoted) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        quoted = false;
      }
      continue;
    }
    if (c == '"') quoted = true;
    const bool ends = depth == 1 && (c == ',' || c == ']');
    if (ends) {
      std::string_view one = json.substr(begin, i - begin);
      while (!one.empty() && (one.front() == ' ' || one.front() == '\n')) one.remove_prefix(1);
      while (!one.empty() && (one.back() == ' ' || one.back() == '\n')) one.remove_suffix(1);
      if (!one.empty() || c == ',') found.push_back(one);
      begin = i + 1;
    }
    if (c == '[' && depth++ == 0) begin = i + 1;
    if (c == ']' && (depth == 0 || --depth == 0)) break;
  }
  return found;
}

// "[2,3]" -> {2, 3}. Nothing if there is anything else in it (a tensor list).
std::optional<Shape> shape(std::string_view json) {
  if (json.empty() || json.front() != '[') return std::nullopt;
  Shape dims;
  for (const std::string_view text : elements(json)) {
    uint64_t dim = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    dims.push_back(dim);
  }
  return dims;
}

uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t elements_of(const Shape& dims) {
  uint64_t product = 1;
  for (const uint64_t dim : dims) product = times(product, dim);
  return product;
}

class Inputs {
 public:
  Inputs(std::string_view dims, std::string_view concrete) : dims_(elements(dims)), concrete_(elements(concrete)) {}

  std::optional<Shape> tensor(size_t i) const { return i < dims_.size() ? shape(dims_[i]) : std::nullopt; }
  // A list of numbers given as such: "\"[2, 2]\"".
  std::optional<Shape> list(size_t i) const {
    const std::optional<std::string_view> text = value(i);
    return text ? shape(*text) : std::nullopt;
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
    std::string_view text = concrete_[i];
    if (text.size() >= 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
    return text;
  }
  std::vector<std::string_view> dims_, concrete_;
};

// 2·M·N·K: all elements of the first matrix but its last dimension, times all of the second, times two.
uint64_t gemm(const Inputs& inputs, size_t first) {
  const std::optional<Shape> a = inputs.tensor(first), b = inputs.tensor(first + 1);
  if (!a || !b || a->empty() || a->back() == 0) return 0;
  return times(times(elements_of(*a) / a->back(), elements_of(*b)), 2);
}

// 2·B·M·N·K: as above, the batch counted once.
uint64_t batched_gemm(const Inputs& inputs, size_t first) {
  const std::optional<Shape> a = inputs.tensor(first), b = inputs.tensor(first + 1);
  if (!a || !b || a->empty() || a->back() == 0 || b->size() < 3) return 0;
  const uint64_t batch = (*b)[b->size() - 3];
  if (batch == 0) return 0;
  return times(times(elements_of(*a) / a->back() / batch, elements_of(*b)), 2);
}

// 2·N·Cin·Cout·Kh·Kw·Hout·Wout / groups, Hout = (H + 2·padding − dilation·(Kh − 1) − 1) / stride + 1.
uint64_t conv2d(const Inputs& inputs) {
  const std::optional<Shape> input = inputs.tensor(0), weight = inputs.tensor(1);
  const std::optional<Shape> stride = inputs.list(3), padding = inputs.list(4), dilation = inputs.list(5);
  const std::optional<uint64_t> groups = inputs.number(6);
  if (!input || !weight || !stride || !padding || !dilation || !groups || *groups == 0) return 0;
  if (input->size() != 4 || weight->size() != 4) return 0;
  uint64_t flops =
      times(2, times((*input)[0], times((*input)[1], elements_of(*weight) / std::max<uint64_t>(1, (*weight)[1]))));
  for (size_t axis = 0; axis < 2; ++axis) {
    if (stride->size() <= axis || padding->size() <= axis || dilation->size() <= axis || (*stride)[axis] == 0) return 0;
    const uint64_t kernel = (*weight)[2 + axis];
    const uint64_t span = times((*dilation)[axis], kernel == 0 ? 0 : kernel - 1);
    const uint64_t padded = (*input)[2 + axis] + times(2, (*padding)[axis]);
    if (padded < span || padded - span < 1) return 0;
    flops = times(flops, (padded - span - 1) / (*stride)[axis] + 1);
  }
  return flops / *groups;
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
    return first ? elements_of(*first) : 0;
  }
  return 0;
}

std::string torch_shapes(std::string_view dims) {
  if (dims.empty()) return "[]";
  if (dims.front() != '[') return std::string(dims);
  std::string text = "[";
  for (const std::string_view each : elements(dims)) {
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
