// What were the arguments of an operator: shapes, types and values? Parsed from the texts in a trace of torch.profiler
// ("Input Dims", "Input type", "Concrete Inputs") or from emit_nvtx's sizes. A value that is missing or not a number (a
// symbolic size) is nullopt, never 0, because a 0 would be used in computations. Used by the formulas in op_cost*.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace prof::analyzer {

using Shape = std::vector<uint64_t>;

// Types of elements, as far as formulas distinguish them.
enum class DataType : uint8_t {
  Unknown,
  Bool,
  Int8,
  Int16,
  Int32,
  Int64,
  Fp4,
  Fp8,
  Fp16,
  Bf16,
  Fp32,
  Fp64,
  Complex32,
  Complex64,
  Complex128
};
// "c10::BFloat16", "float", "long int", and "bf16", "fp32" as users write them. Unknown: another text, or no tensor.
DataType data_type(std::string_view text);
// From PyTorch's number of a type (c10::ScalarType), as "Concrete Inputs" has it for `out_dtype`. Unknown: another
// number.
DataType scalar_type(uint64_t number);
std::string_view data_type_name(DataType type);  // "bf16"; empty for Unknown
inline bool is_complex(DataType type) { return type >= DataType::Complex32; }
// Bytes of an element as shapes count elements; 0 for Unknown. An element of fp4 is two values: Float4_e2m1fn_x2 packs
// two.
uint64_t bytes_of(DataType type);
inline uint64_t values_in(DataType type) { return type == DataType::Fp4 ? 2 : 1; }

// The top-level elements of a JSON array, as written: "[[2,3],\"x\",[]]" -> "[2,3]", "\"x\"", "[]".
std::vector<std::string_view> json_elements(std::string_view json);
// "[2,3]" -> {2, 3}. nullopt if it contains anything else: a list of tensors, a symbol, a negative size.
std::optional<Shape> json_shape(std::string_view json);

// The number that a member of a JSON object has, possibly in quotes. nullopt: no such member, or a number that is not
// above 0 and below 10^18.
std::optional<double> positive_member(std::string_view members, std::string_view key);

// These saturate at UINT64_MAX instead of wrapping.
uint64_t times(uint64_t a, uint64_t b);
uint64_t plus(uint64_t a, uint64_t b);
uint64_t elements_of(const Shape& dims);

class OpInputs {
 public:
  // The object refers to the texts, so they must outlive it. `types` and `concrete` may be empty. Without types every
  // argument with dims is a tensor of type `otherwise`.
  OpInputs(std::string_view dims, std::string_view types, std::string_view concrete,
           DataType otherwise = DataType::Unknown);

  size_t size() const { return dims_.size(); }
  bool has_types() const { return !types_.empty(); }
  // nullopt: not a tensor, or a shape with other parts than numbers.
  std::optional<Shape> tensor(size_t i) const;
  std::vector<std::optional<Shape>> tensors(size_t i) const;  // of a list of tensors
  bool is_tensor(size_t i) const;
  bool is_tensor_list(size_t i) const;
  DataType type(size_t i) const;
  DataType type_of_lists() const { return otherwise_; }  // type of list elements, which traces do not contain
  // Whether the argument was None. nullopt: the trace has no types, or fewer arguments.
  std::optional<bool> is_none(size_t i) const;
  // A concrete list of numbers ("\"[2, 2]\""), a number, a truth value.
  std::optional<Shape> list(size_t i) const;
  // Axes of a tensor of `rank` dimensions; negative ones count from the last. nullopt: no axes, or one that does not
  // exist.
  std::optional<Shape> axes(size_t i, size_t rank) const;
  bool has_value(size_t i) const { return value(i).has_value(); }
  std::optional<uint64_t> number(size_t i) const;
  std::optional<int64_t> integer(size_t i) const;  // may be negative
  std::optional<bool> flag(size_t i) const;
  std::optional<std::vector<bool>> flags(size_t i) const;  // "[True, False, True]"

 private:
  std::optional<std::string_view> value(size_t i) const;
  std::vector<std::string_view> dims_, types_, concrete_;
  DataType otherwise_;
};

}  // namespace prof::analyzer
