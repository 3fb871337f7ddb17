#include "analyzer/analysis/library_cost.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace prof::analyzer {

namespace {

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
                                         {"fp4_e2m1", DataType::Unknown, 4},
                                         {"fp6_e2m3", DataType::Unknown, 6},
                                         {"fp6_e3m2", DataType::Unknown, 6},
                                         {"complex64", DataType::Complex64, 64, true},
                                         {"complex128", DataType::Complex128, 128, true},
                                         {"complex32", DataType::Unknown, 32, true},
                                         {"complex_bf16", DataType::Unknown, 32, true}};

const ElementType* element_type(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                                         [&](const ElementType& each) { return each.name == name; });
  return found == std::end(kElementTypes) ? nullptr : found;
}

// What the tensor cores may multiply in, by the type of the elements and by what the call or the handle allows.
std::optional<PeakType> peak_type(DataType elements, std::string_view compute, std::string_view math) {
  if (compute.find("emulated") != std::string_view::npos || math == "bf16x9" || math == "fp64_fixedpoint")
    return std::nullopt;  // several products of a smaller type each
  switch (elements) {
    case DataType::Fp64:
    case DataType::Complex128: return PeakType::Fp64Matrix;
    case DataType::Fp32:
    case DataType::Complex64:
      if (compute == "32f_fast_16f") return PeakType::Fp16;
      if (compute == "32f_fast_16bf") return PeakType::Bf16;
      return compute == "32f_fast_tf32" || (compute == "32f" && math == "tf32") ? PeakType::Tf32 : PeakType::Fp32;
    case DataType::Fp16: return PeakType::Fp16;
    case DataType::Bf16: return PeakType::Bf16;
    case DataType::Fp8: return PeakType::Fp8;
    case DataType::Int8: return PeakType::Int8;
    default: return std::nullopt;
  }
}

// Vector units, by the type of the elements.
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

// 2·m·n·k for each of the batch, 8·m·n·k of complex numbers: a product of two is four products and two sums, and one sum of two more.
LibraryCost gemm(const CallArguments& call) {
  LibraryCost result;
  const std::optional<uint64_t> m = call.number("m"), n = call.number("n"), k = call.number("k");
  const bool batched = !call.value("batch").empty();
  const std::optional<uint64_t> batch = batched ? call.number("batch") : std::optional<uint64_t>(1);
  const ElementType *const a = element_type(call.value("A")), *const b = element_type(call.value("B")),
                           *const c = element_type(call.value("C"));
  if (!m || !n || !k || !batch || a == nullptr) {
    result.cost = no_cost(NoCost::NoShapes);
    result.cost.known = false;
    return result;
  }
  result.cost.type = a->type;
  set_matrix_cost(result.cost, times(a->complex ? 8 : 2, times(*batch, times(*m, times(*n, *k)))), 0);
  result.cost.bytes.reset();
  result.cost.no_bytes = NoCost::NoType;
  result.peak = peak_type(a->type, call.value("compute"), call.value("math"));
  if (b != nullptr && c != nullptr) {
    const auto bytes = [](const ElementType& type, uint64_t elements) {
      return plus(times(elements, type.bits), 7) / 8;
    };
    const uint64_t of_a = call.value("strideA") == "0" ? 1 : *batch, of_b = call.value("strideB") == "0" ? 1 : *batch;
    // What is added is read unless its factor is 0; where nobody knows the factor it is not counted.
    const uint64_t of_c = times(*batch, call.value("beta") == "other" ? 2 : 1);
    result.cost.bytes = plus(bytes(*a, times(of_a, times(*m, *k))),
                             plus(bytes(*b, times(of_b, times(*k, *n))), bytes(*c, times(of_c, times(*m, *n)))));
    result.cost.no_bytes = NoCost::None;
  }
  if (result.cost.flops == UINT64_MAX || result.cost.bytes == UINT64_MAX) {
    result.cost = no_cost(NoCost::Misfit);
    result.cost.known = false;
  }
  return result;
}

// A matrix of m × n times a vector: 2·m·n for each of the batch, 8·m·n of complex numbers.
LibraryCost vector_product(const CallArguments& call) {
  const std::optional<uint64_t> m = call.number("m"), n = call.number("n");
  const bool batched = !call.value("batch").empty();
  const std::optional<uint64_t> batch = batched ? call.number("batch") : std::optional<uint64_t>(1);
  const ElementType *const a = element_type(call.value("A")), *const x = element_type(call.value("B")),
                           *const y = element_type(call.value("C"));
  if (!m || !n || !batch || a == nullptr || x == nullptr || y == nullptr) return without_cost(NoCost::NoShapes);
  const bool flipped = call.value("trans") != "N";
  const uint64_t of_a = call.value("strideA") == "0" ? 1 : *batch, of_x = call.value("strideB") == "0" ? 1 : *batch;
  const uint64_t of_y = times(*batch, call.value("beta") == "other" ? 2 : 1);
  const uint64_t bits =
      plus(times(of_a, times(times(*m, *n), a->bits)),
           plus(times(of_x, times(flipped ? *m : *n, x->bits)), times(of_y, times(flipped ? *n : *m, y->bits))));
  LibraryCost result;
  result.cost.known = true;
  result.cost.type = a->type;
  result.cost.flops = result.cost.useful_flops = times(a->complex ? 8 : 2, times(*batch, times(*m, *n)));
  result.cost.bytes = bits / 8;
  result.cost.no_flops = result.cost.no_bytes = NoCost::None;
  result.peak = vector_peak(a->type);
  return result.cost.flops == UINT64_MAX || bits == UINT64_MAX ? without_cost(NoCost::Misfit) : result;
}

// "8x16x32x32"; nothing if anything in it is no number.
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

// A convolution and its gradients: 2·∏y·∏w without the first of w's sizes, the output channels; the second is the input channels of one
// group. matmul: 2·∏y·k, k the last size of x.
LibraryCost plan(const CallArguments& call) {
  LibraryCost result;
  result.cost.no_flops = result.cost.no_bytes = NoCost::NoShapes;
  const std::optional<Shape> x = sizes_of(call.value("x")), w = sizes_of(call.value("w")),
                             y = sizes_of(call.value("y"));
  const ElementType *const a = element_type(call.value("A")), *const b = element_type(call.value("B")),
                           *const c = element_type(call.value("C"));
  if (!x || !w || !y || a == nullptr || b == nullptr || c == nullptr) return result;
  const bool product = call.value("op") == "matmul";
  const bool same_rank = x->size() == w->size() && x->size() == y->size() && x->size() >= (product ? 2u : 3u);
  if (!same_rank || (product ? x->back() != (*w)[w->size() - 2] : (*y)[1] != w->front())) {
    result.cost.no_flops = result.cost.no_bytes = NoCost::Misfit;
    return result;
  }
  const uint64_t each = product ? x->back() : elements_of(Shape(w->begin() + 1, w->end()));
  result.cost.type = a->type;
  set_matrix_cost(result.cost, times(2, times(elements_of(*y), each)), 0);
  result.peak = peak_type(a->type, {}, {});
  result.math_unknown = a->type == DataType::Fp32;
  result.cost.bytes.reset();
  result.cost.no_bytes = NoCost::NoFormula;
  if (call.value("operations") == "1") {  // of what is fused some stays on the chip
    result.cost.bytes = plus(times(elements_of(*x), a->bits / 8),
                             plus(times(elements_of(*w), b->bits / 8), times(elements_of(*y), c->bits / 8)));
    result.cost.no_bytes = NoCost::None;
  }
  if (result.cost.flops == UINT64_MAX || result.cost.bytes == UINT64_MAX) {
    result.cost = no_cost(NoCost::Misfit);
    result.cost.known = false;
  }
  return result;
}

// A Fourier transform of N points: 5·N·log2(N), of real numbers half of it, the convention of FFTW's benchmark for comparing algorithms
// that take different numbers. Between real and complex numbers about half of the last dimension is stored.
LibraryCost transform(const CallArguments& call) {
  const std::optional<Shape> points = sizes_of(call.value("points"));
  const bool batched = !call.value("batch").empty();
  const std::optional<uint64_t> batch = batched ? call.number("batch") : std::optional<uint64_t>(1);
  const ElementType *const from = element_type(call.value("A")), *const to = element_type(call.value("C"));
  if (!points || !batch || from == nullptr || to == nullptr || !(from->complex || to->complex))
    return without_cost(NoCost::NoShapes);
  const bool real = from->complex != to->complex;
  const uint64_t whole = elements_of(*points);
  const uint64_t half = real && points->back() != 0 ? whole / points->back() * (points->back() / 2 + 1) : whole;
  const auto count = static_cast<double>(whole);
  const double flops = whole == 0 ? 0 : (real ? 2.5 : 5) * count * std::log2(count) * static_cast<double>(*batch);
  const auto bits_of = [&](const ElementType& type) { return times(type.complex ? half : whole, type.bits); };
  const uint64_t bits = times(*batch, plus(bits_of(*from), bits_of(*to)));
  if (!(flops < 1e18) || bits == UINT64_MAX) return without_cost(NoCost::Misfit);
  LibraryCost result;
  result.cost.known = true;
  result.cost.type = from->type;
  result.cost.flops = result.cost.useful_flops = static_cast<uint64_t>(std::llround(flops));
  result.cost.bytes = bits / 8;
  result.cost.no_flops = result.cost.no_bytes = NoCost::None;
  result.peak = vector_peak(from->type);
  result.nominal = result.spread = true;
  return result;
}

// A sparse matrix times a dense one, or two dense ones where a sparse result has places (sparse=C): two for each non-zero and column, or
// each non-zero and inner place. Bytes: each operand once, of a sparse one its values, indices and offsets.
LibraryCost sparse_product(const CallArguments& call) {
  const std::optional<uint64_t> m = call.number("m"), n = call.number("n"), k = call.number("k"),
                                nonzeros = call.number("nnz");
  const bool batched = !call.value("batch").empty(), result_is_sparse = call.value("sparse") == "C";
  const std::optional<uint64_t> batch = batched ? call.number("batch") : std::optional<uint64_t>(1);
  const ElementType *const a = element_type(call.value("A")), *const b = element_type(call.value("B")),
                           *const c = element_type(call.value("C"));
  if (!m || !n || !k || !nonzeros || !batch || a == nullptr) return without_cost(NoCost::NoShapes);
  LibraryCost result;
  result.cost.known = true;
  result.cost.type = a->type;
  result.cost.flops = result.cost.useful_flops =
      times(a->complex ? 8 : 2, times(*batch, times(*nonzeros, result_is_sparse ? *k : *n)));
  result.cost.no_flops = NoCost::None;
  result.cost.no_bytes = NoCost::NoType;
  if (call.value("compute") == call.value("A")) result.peak = vector_peak(a->type);
  const ElementType *const index = element_type(call.value("index")), *const offset =
                                                                          element_type(call.value("offset"));
  const std::string_view format = call.value("format");
  const bool known_format =
      index != nullptr && (format == "coo" || (offset != nullptr && (format == "csr" || format == "csc")));
  if (b != nullptr && c != nullptr && known_format) {
    const bool flipped = !result_is_sparse && call.value("transa") != "N";
    const uint64_t rows = flipped ? *k : *m, columns = result_is_sparse ? *n : flipped ? *m : *k;
    const uint64_t places = format == "coo" ? times(2, times(*nonzeros, index->bits))
                                            : plus(times(*nonzeros, index->bits),
                                                   times(plus(format == "csr" ? rows : columns, 1), offset->bits));
    const uint64_t of_a = call.value("strideA") == "0" ? 1 : *batch, of_b = call.value("strideB") == "0" ? 1 : *batch;
    const uint64_t written = times(*batch, call.value("beta") == "other" ? 2 : 1);
    uint64_t bits = times(of_b, times(times(*k, *n), b->bits));
    if (result_is_sparse) {
      bits = plus(bits, times(of_a, times(times(*m, *k), a->bits)));
      bits = plus(bits, plus(times(written, times(*nonzeros, c->bits)), times(*batch, places)));
    } else {
      bits = plus(bits, times(of_a, plus(times(*nonzeros, a->bits), places)));
      bits = plus(bits, times(written, times(times(*m, *n), c->bits)));
    }
    result.cost.bytes = bits == UINT64_MAX ? UINT64_MAX : bits / 8;
    result.cost.no_bytes = NoCost::None;
  }
  if (result.cost.flops == UINT64_MAX || result.cost.bytes == UINT64_MAX) return without_cost(NoCost::Misfit);
  return result;
}

// The factors of nccl-tests: what each rank sends over its links for a collective of `bytes`.
LibraryCost collective(const CallArguments& call) {
  LibraryCost result;
  result.cost.no_flops = result.cost.no_bytes = NoCost::NotCounted;
  const std::optional<uint64_t> count = call.number("count"), ranks = call.number("ranks");
  const ElementType* const type = element_type(call.value("type"));
  if (!count || !ranks || *ranks == 0 || type == nullptr) return result;
  const uint64_t bytes = times(*count, type->bits / 8);
  const auto part = [&](uint64_t numerator, uint64_t denominator) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(bytes) * numerator / denominator);
  };
  if (call.name == "ncclAllReduce") {
    result.wire_bytes = part(2 * (*ranks - 1), *ranks);
  } else if (call.name == "ncclAllGather" || call.name == "ncclReduceScatter") {
    result.wire_bytes = times(bytes, *ranks - 1);  // `count` is one rank's share of the whole
  } else {
    result.wire_bytes = bytes;
  }
  return result;
}

}  // namespace

std::optional<LibraryCost> library_cost(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const CallArguments call(text);
  if (call.name.empty()) return std::nullopt;
  if (!call.value("sparse").empty()) return sparse_product(call);
  if (!call.value("transa").empty()) return gemm(call);
  if (!call.value("trans").empty()) return vector_product(call);
  if (!call.value("w").empty()) return plan(call);
  if (!call.value("points").empty()) return transform(call);
  if (!call.value("count").empty()) return collective(call);
  return LibraryCost{};
}

}  // namespace prof::analyzer
