// What do dense products of cuBLAS cost? The counts are those of LAPACK Working Note 41 (Blackford and Dongarra,
// Installation Guide for LAPACK, table of operation counts of the level 3 BLAS): zeros of a triangle and mirrored
// elements are not counted.
#include "analyzer/analysis/cost/library_call_text.h"

namespace prof::analyzer {

namespace {

// n·(n+1)/2: the elements of a symmetric or triangular matrix that are stored.
uint64_t triangle(uint64_t n) { return n % 2 == 0 ? times(n / 2, plus(n, 1)) : times(n, n / 2 + 1); }
// C is read only if beta is not 0. If beta is unknown, the read is not counted.
uint64_t times_moved(const CallArguments& call) { return call.value("beta") == "other" ? 2 : 1; }

// `flops`, `bits`: of one element of the batch. The library works in panels and blocks with a kernel for each, so the
// cost is spread over all kernels of the call.
LibraryCost of_batch(const CallArguments& call, const ElementType& type, uint64_t flops, uint64_t bits) {
  const bool batched = !call.value("batch").empty();
  const std::optional<uint64_t> batch = batched ? call.number("batch") : std::optional<uint64_t>(1);
  if (!batch) return without_cost(NoCost::NoShapes);
  flops = times(*batch, times(type.complex ? 4 : 1, flops));
  bits = times(*batch, bits);
  if (flops == UINT64_MAX || bits == UINT64_MAX) return without_cost(NoCost::Misfit);
  LibraryCost result;
  result.cost.known = result.spread = true;
  result.cost.type = type.type;
  result.cost.flops = result.cost.useful_flops = flops;
  result.cost.bytes = bits / 8;
  result.cost.no_flops = result.cost.no_bytes = NoCost::None;
  result.peak = peak_type(type.type, call.value("compute"), call.value("math"));
  return result;
}

}  // namespace

// 2·m·n·k per batch element, 8·m·n·k for complex numbers: a complex multiply-add has four real products and four
// real sums.
LibraryCost gemm_cost(const CallArguments& call) {
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
    const uint64_t of_a = call.value("strideA") == "0" ? 1 : *batch, of_b = call.value("strideB") == "0" ? 1 : *batch;
    // C is read only if beta is not 0. If beta is unknown, the read is not counted.
    const uint64_t of_c = times(*batch, call.value("beta") == "other" ? 2 : 1);
    result.cost.bytes = plus(bytes_of(*a, times(of_a, times(*m, *k))),
                             plus(bytes_of(*b, times(of_b, times(*k, *n))), bytes_of(*c, times(of_c, times(*m, *n)))));
    result.cost.no_bytes = NoCost::None;
  }
  if (result.cost.flops == UINT64_MAX || result.cost.bytes == UINT64_MAX) {
    result.cost = no_cost(NoCost::Misfit);
    result.cost.known = false;
  }
  return result;
}

// An m × n matrix times a vector: 2·m·n per batch element, 8·m·n for complex numbers.
LibraryCost vector_product_cost(const CallArguments& call) {
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

// A is symmetric (2·m·m·n on the left, 2·m·n·n on the right) or triangular (m·m·n, m·n·n, for multiplying and
// for solving; the call has `diag`). All matrices have one type. B is read; C, or B itself, is written.
LibraryCost symmetric_cost(const CallArguments& call) {
  const std::optional<uint64_t> m = call.number("m"), n = call.number("n");
  const ElementType* const a = element_type(call.value("A"));
  const std::string_view side = call.value("side"), diagonal = call.value("diag");
  if (!m || !n || a == nullptr || (side != "L" && side != "R")) return without_cost(NoCost::NoShapes);
  const uint64_t order = side == "L" ? *m : *n;
  const uint64_t flops = times(diagonal.empty() ? 2 : 1, times(order, times(*m, *n)));
  const uint64_t of_a = triangle(order) - (diagonal == "U" ? order : 0);  // a unit diagonal is not read
  const uint64_t moved = plus(of_a, times(1 + times_moved(call), times(*m, *n)));
  return of_batch(call, *a, flops, times(moved, a->bits));
}

// C is n × n and half of it is written: k·n·(n+1) FLOPs per product. `products` is 2 if the call adds a second
// product.
LibraryCost rank_update_cost(const CallArguments& call) {
  const std::optional<uint64_t> n = call.number("n"), k = call.number("k");
  const ElementType* const a = element_type(call.value("A"));
  if (!n || !k || a == nullptr) return without_cost(NoCost::NoShapes);
  const uint64_t operands = call.value("B").empty() ? 1 : 2, products = call.number("products").value_or(1);
  const uint64_t flops = times(products, times(2, times(*k, triangle(*n))));
  const uint64_t moved = plus(times(operands, times(*n, *k)), times(times_moved(call), triangle(*n)));
  return of_batch(call, *a, flops, times(moved, a->bits));
}

}  // namespace prof::analyzer
