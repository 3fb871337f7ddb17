#include "analyzer/analysis/cost/library_cost.h"

#include "analyzer/analysis/cost/library_call_text.h"

#include <cmath>

namespace prof::analyzer {

namespace {

// A Fourier transform of N points: 5·N·log2(N) FLOPs, half of it for real numbers. This is the convention of FFTW's
// benchmark, which compares algorithms of different real costs. Between real and complex numbers, about half of the
// last dimension is stored.
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

// A sparse matrix times a dense one: 2 FLOPs per non-zero and column. Or two dense matrices with a sparse result
// (sparse=C): 2 FLOPs per non-zero and element of the inner dimension. Bytes: each operand once; a sparse operand has
// values, indices and offsets.
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

// The bytes that a collective moves depend on all its ranks: see `prof report collectives`.
LibraryCost collective() {
  LibraryCost result;
  result.cost.no_flops = result.cost.no_bytes = NoCost::NotCounted;
  return result;
}

}  // namespace

std::optional<LibraryCost> library_cost(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const CallArguments call(text);
  if (call.name.empty()) return std::nullopt;
  if (!call.value("sparse").empty()) return sparse_product(call);
  if (!call.value("side").empty()) return symmetric_cost(call);
  if (!call.value("uplo").empty()) return rank_update_cost(call);
  if (!call.value("transa").empty()) return gemm_cost(call);
  if (!call.value("trans").empty()) return vector_product_cost(call);
  if (!call.value("w").empty()) return plan_cost(call);
  if (!call.value("points").empty()) return transform(call);
  if (!call.value("count").empty()) return collective();
  return LibraryCost{};
}

}  // namespace prof::analyzer
