// What does the text of a library call state? "cublasSgemm_v2(transa=N, transb=N, m=512, …)" by keys, and the meaning
// of its type names. Used by library_cost*.cpp and the collectives.
#pragma once

#include "analyzer/analysis/cost/library_cost.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// "name(key=value, …)"
class CallArguments {
 public:
  explicit CallArguments(std::string_view text) {
    const size_t open = text.find('(');
    if (open == std::string_view::npos || text.back() != ')') return;
    name = text.substr(0, open);
    inside_ = text.substr(open + 1, text.size() - open - 2);
  }
  std::string_view value(std::string_view key) const {
    for (std::string_view left = inside_; !left.empty();) {
      const size_t comma = left.find(", ");
      const std::string_view each = left.substr(0, comma);
      if (each.size() > key.size() && each.starts_with(key) && each[key.size()] == '=')
        return each.substr(key.size() + 1);
      left = comma == std::string_view::npos ? std::string_view() : left.substr(comma + 2);
    }
    return {};
  }
  std::optional<uint64_t> number(std::string_view key) const {
    const std::string_view text = value(key);
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
  }

  // Splits the arguments before each `key=`: "op=a, x=1, op=b, x=2" has two parts by "op".
  std::vector<CallArguments> split(std::string_view key) const {
    std::vector<CallArguments> parts;
    for (std::string_view left = inside_; !left.empty();) {
      const size_t comma = left.find(", ");
      const std::string_view each = left.substr(0, comma);
      if (each.size() > key.size() && each.starts_with(key) && each[key.size()] == '=') {
        parts.emplace_back(*this).inside_ = each;
      } else if (!parts.empty()) {
        std::string_view& part = parts.back().inside_;
        part = {part.data(), static_cast<size_t>(each.data() + each.size() - part.data())};
      }
      left = comma == std::string_view::npos ? std::string_view() : left.substr(comma + 2);
    }
    return parts;
  }

  std::string_view name;

 private:
  std::string_view inside_;
};

struct ElementType {
  std::string_view name;
  DataType type;
  uint64_t bits;
  bool complex = false;
};
// Bytes of that many contiguous elements, a half byte rounded up. UINT64_MAX: does not fit.
inline uint64_t bytes_of(const ElementType& type, uint64_t elements) {
  const uint64_t bits = times(elements, type.bits);
  return bits == UINT64_MAX ? UINT64_MAX : bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

// Null: unknown type.
const ElementType* element_type(std::string_view name);

// "8x16x32x32". nullopt if a part is no number.
std::optional<Shape> sizes_of(std::string_view text);

// The tensor core type that may be used, by the type of the elements and by the modes of the call or the handle.
std::optional<PeakType> peak_type(DataType elements, std::string_view compute, std::string_view math);
// The peak of tensor cores, by the type of the elements; `of_single`: that of fp32, which the mode of the call decides.
std::optional<PeakType> matrix_peak(DataType type, PeakType of_single);
// The peak of vector units, by the type of the elements.
std::optional<PeakType> vector_peak(DataType type);

LibraryCost without_cost(NoCost reason);

// Dense products of cuBLAS and cuBLASLt: library_cost_blas.cpp.
LibraryCost gemm_cost(const CallArguments& call);
LibraryCost vector_product_cost(const CallArguments& call);
LibraryCost symmetric_cost(const CallArguments& call);    // one operand is symmetric or triangular
LibraryCost rank_update_cost(const CallArguments& call);  // the result is symmetric

// Convolutions, products and attention of cuDNN, for one operation or all operations of a plan: library_cost_dnn.cpp.
LibraryCost plan_cost(const CallArguments& call);

}  // namespace prof::analyzer
