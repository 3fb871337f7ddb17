#include "analyzer/analysis/cost/op_inputs.h"

#include "analyzer/base/json/json_members.h"
#include "analyzer/base/json/json_text.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace prof::analyzer {

namespace {

struct TypeName {
  std::string_view text;
  DataType type;
};
constexpr TypeName kTypeNames[] = {{"float", DataType::Fp32},
                                   {"c10::Half", DataType::Fp16},
                                   {"c10::BFloat16", DataType::Bf16},
                                   {"double", DataType::Fp64},
                                   {"long int", DataType::Int64},
                                   {"long", DataType::Int64},
                                   {"int", DataType::Int32},
                                   {"unsigned int", DataType::Int32},
                                   {"short int", DataType::Int16},
                                   {"short", DataType::Int16},
                                   {"bool", DataType::Bool},
                                   {"signed char", DataType::Int8},
                                   {"unsigned char", DataType::Int8},
                                   {"c10::complex<c10::Half>", DataType::Complex32},
                                   {"c10::complex<float>", DataType::Complex64},
                                   {"c10::complex<double>", DataType::Complex128},
                                   {"fp64", DataType::Fp64},
                                   {"fp32", DataType::Fp32},
                                   {"tf32", DataType::Fp32},
                                   {"fp16", DataType::Fp16},
                                   {"bf16", DataType::Bf16},
                                   {"fp8", DataType::Fp8},
                                   {"fp4", DataType::Fp4},
                                   {"c10::Float4_e2m1fn_x2", DataType::Fp4},
                                   {"int8", DataType::Int8},
                                   {"float64", DataType::Fp64},
                                   {"float32", DataType::Fp32},
                                   {"float16", DataType::Fp16},
                                   {"bfloat16", DataType::Bf16}};

std::optional<bool> truth(std::string_view text) {
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  return std::nullopt;
}

}  // namespace

DataType data_type(std::string_view text) {
  const auto found = std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                                  [&](const TypeName& name) { return name.text == text; });
  if (found != std::end(kTypeNames)) return found->type;
  // Float8_e8m0fnu is a type of scales and not used in computations. It has the size of the other types.
  return text.starts_with("c10::Float8_") ? DataType::Fp8 : DataType::Unknown;
}

// The order of c10/core/ScalarType.h (AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS). It never changes, because files
// store the numbers.
DataType scalar_type(uint64_t number) {
  switch (number) {
    case 0:
    case 1: return DataType::Int8;
    case 2: return DataType::Int16;
    case 3: return DataType::Int32;
    case 4: return DataType::Int64;
    case 5: return DataType::Fp16;
    case 6: return DataType::Fp32;
    case 7: return DataType::Fp64;
    case 8: return DataType::Complex32;
    case 9: return DataType::Complex64;
    case 10: return DataType::Complex128;
    case 11: return DataType::Bool;
    case 15: return DataType::Bf16;
    case 23:
    case 24:
    case 25:
    case 26:
    case 44: return DataType::Fp8;
    case 45: return DataType::Fp4;
    default: return DataType::Unknown;
  }
}

std::string_view data_type_name(DataType type) {
  constexpr std::string_view kNames[] = {"",     "bool", "int8", "int16", "int32",     "int64",     "fp4",       "fp8",
                                         "fp16", "bf16", "fp32", "fp64",  "complex32", "complex64", "complex128"};
  return kNames[static_cast<size_t>(type)];
}

uint64_t bytes_of(DataType type) {
  constexpr uint64_t kBytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 2, 4, 8, 4, 8, 16};
  return kBytes[static_cast<size_t>(type)];
}

std::vector<std::string_view> json_elements(std::string_view json) {
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

std::optional<Shape> json_shape(std::string_view json) {
  if (json.empty() || json.front() != '[') return std::nullopt;
  Shape dims;
  for (const std::string_view text : json_elements(json)) {
    uint64_t dim = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    dims.push_back(dim);
  }
  return dims;
}

std::optional<double> positive_member(std::string_view members, std::string_view key) {
  const std::string_view text = unquoted(json_member(members, key).value_or(std::string_view()));
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool usable = error == std::errc() && end != text.data() && value > 0 && value < 1e18;  // false for NaN
  return usable ? std::optional(value) : std::nullopt;
}

uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t plus(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t elements_of(const Shape& dims) {
  uint64_t product = 1;
  for (const uint64_t dim : dims) product = times(product, dim);
  return product;
}

OpInputs::OpInputs(std::string_view dims, std::string_view types, std::string_view concrete, DataType otherwise)
    : dims_(json_elements(dims)),
      types_(json_elements(types)),
      concrete_(json_elements(concrete)),
      otherwise_(otherwise) {}

DataType OpInputs::type(size_t i) const {
  if (types_.empty()) return i < dims_.size() && dims_[i].size() > 2 ? otherwise_ : DataType::Unknown;
  return i < types_.size() ? data_type(unquoted(types_[i])) : DataType::Unknown;
}

std::optional<bool> OpInputs::is_none(size_t i) const {
  if (i >= types_.size() || i >= dims_.size()) return std::nullopt;
  return unquoted(types_[i]).empty() && !value(i);
}

// A tensor without dimensions has the dims "[]", and so has an argument that is no tensor. The type distinguishes them.
bool OpInputs::is_tensor(size_t i) const {
  if (i >= dims_.size()) return false;
  return types_.empty() ? dims_[i].size() > 2 : type(i) != DataType::Unknown;
}

// If the trace has no types, a list is recognised by dims that contain dims.
bool OpInputs::is_tensor_list(size_t i) const {
  if (i >= dims_.size()) return false;
  return types_.empty() ? dims_[i].find('[', 1) != std::string_view::npos
                        : i < types_.size() && unquoted(types_[i]) == "TensorList";
}

std::optional<Shape> OpInputs::tensor(size_t i) const {
  if (i >= dims_.size()) return std::nullopt;
  if (dims_[i].size() <= 2 && !is_tensor(i)) return std::nullopt;
  return json_shape(dims_[i]);
}

std::vector<std::optional<Shape>> OpInputs::tensors(size_t i) const {
  std::vector<std::optional<Shape>> shapes;
  if (i >= dims_.size()) return shapes;
  for (const std::string_view each : json_elements(dims_[i])) shapes.push_back(json_shape(each));
  return shapes;
}

std::optional<std::string_view> OpInputs::value(size_t i) const {
  if (i >= concrete_.size()) return std::nullopt;
  const std::string_view text = unquoted(concrete_[i]);
  return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<Shape> OpInputs::list(size_t i) const {
  const std::optional<std::string_view> text = value(i);
  return text ? json_shape(*text) : std::nullopt;
}

std::optional<Shape> OpInputs::axes(size_t i, size_t rank) const {
  const std::optional<std::string_view> text = value(i);
  if (!text || text->front() != '[') return std::nullopt;
  Shape found;
  for (const std::string_view each : json_elements(*text)) {
    int64_t axis = 0;
    const auto [end, error] = std::from_chars(each.data(), each.data() + each.size(), axis);
    if (error != std::errc() || end != each.data() + each.size()) return std::nullopt;
    if (axis < 0) axis += static_cast<int64_t>(rank);
    if (axis < 0 || axis >= static_cast<int64_t>(rank)) return std::nullopt;
    found.push_back(static_cast<uint64_t>(axis));
  }
  return found;
}

namespace {

template <class Number> std::optional<Number> whole_number(std::optional<std::string_view> text) {
  Number number = 0;
  if (!text) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  return error == std::errc() && end == text->data() + text->size() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<uint64_t> OpInputs::number(size_t i) const { return whole_number<uint64_t>(value(i)); }
std::optional<int64_t> OpInputs::integer(size_t i) const { return whole_number<int64_t>(value(i)); }

std::optional<bool> OpInputs::flag(size_t i) const {
  const std::optional<std::string_view> text = value(i);
  return text ? truth(*text) : std::nullopt;
}

std::optional<std::vector<bool>> OpInputs::flags(size_t i) const {
  const std::optional<std::string_view> text = value(i);
  if (!text || text->front() != '[') return std::nullopt;
  std::vector<bool> all;
  for (const std::string_view each : json_elements(*text)) {
    const std::optional<bool> one = truth(each);
    if (!one) return std::nullopt;
    all.push_back(*one);
  }
  return all;
}

}  // namespace prof::analyzer
