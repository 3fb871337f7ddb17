#include "analyzer/analysis/cost/library_call_text.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

constexpr ElementType kElementTypes[] = {{"fp64", DataType::Fp64, 64},
                                         {"fp32", DataType::Fp32, 32},
                                         {"fp16", DataType::Fp16, 16},
                                         {"bf16", DataType::Bf16, 16},
                                         {"fp8_e4m3", DataType::Fp8, 8},
                                         {"fp8_e5m2", DataType::Fp8, 8},
                                         {"int8", DataType::Int8, 8},
                                         {"int32", DataType::Int32, 32},
                                         {"uint8", DataType::Unknown, 8},
                                         {"uint16", DataType::Unknown, 16},
                                         {"uint32", DataType::Unknown, 32},
                                         {"int64", DataType::Int64, 64},
                                         {"uint64", DataType::Unknown, 64},
                                         {"int16", DataType::Int16, 16},
                                         {"int4", DataType::Unknown, 4},
                                         {"uint4", DataType::Unknown, 4},
                                         {"fp4_e2m1", DataType::Fp4, 4},
                                         {"fp6_e2m3", DataType::Unknown, 6},
                                         {"fp6_e3m2", DataType::Unknown, 6},
                                         {"complex64", DataType::Complex64, 64, true},
                                         {"complex128", DataType::Complex128, 128, true},
                                         {"complex32", DataType::Complex32, 32, true},
                                         {"complex_bf16", DataType::Unknown, 32, true}};

}  // namespace

const ElementType* element_type(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                                         [&](const ElementType& each) { return each.name == name; });
  return found == std::end(kElementTypes) ? nullptr : found;
}

std::optional<Shape> sizes_of(std::string_view text) {
  Shape sizes;
  while (!text.empty()) {
    const size_t end = std::min(text.find('x'), text.size());
    uint64_t size = 0;
    const auto [at, error] = std::from_chars(text.data(), text.data() + end, size);
    if (error != std::errc() || at != text.data() + end || end == 0) return std::nullopt;
    sizes.push_back(size);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (sizes.empty()) return std::nullopt;
  return sizes;
}

std::optional<PeakType> peak_type(DataType elements, std::string_view compute, std::string_view math) {
  if (compute.find("emulated") != std::string_view::npos || math == "bf16x9" || math == "fp64_fixedpoint")
    return std::nullopt;  // several products of a smaller type each
  PeakType of_single = PeakType::Fp32;
  if (compute == "32f_fast_16f") of_single = PeakType::Fp16;
  if (compute == "32f_fast_16bf") of_single = PeakType::Bf16;
  if (compute == "32f_fast_tf32" || (compute == "32f" && math == "tf32")) of_single = PeakType::Tf32;
  return matrix_peak(elements, of_single);
}

std::optional<PeakType> matrix_peak(DataType type, PeakType of_single) {
  switch (type) {
    case DataType::Fp64:
    case DataType::Complex128: return PeakType::Fp64Matrix;
    case DataType::Fp32:
    case DataType::Complex64: return of_single;
    case DataType::Fp16: return PeakType::Fp16;
    case DataType::Bf16: return PeakType::Bf16;
    case DataType::Fp4: return PeakType::Fp4;
    case DataType::Fp8: return PeakType::Fp8;
    case DataType::Int8: return PeakType::Int8;
    default: return std::nullopt;
  }
}

std::optional<PeakType> vector_peak(DataType type) {
  switch (type) {
    case DataType::Fp32:
    case DataType::Complex64: return PeakType::Fp32;
    case DataType::Fp64:
    case DataType::Complex128: return PeakType::Fp64;
    default: return std::nullopt;
  }
}

LibraryCost without_cost(NoCost reason) {
  LibraryCost result;
  result.cost.no_flops = result.cost.no_bytes = reason;
  return result;
}

}  // namespace prof::analyzer
