// What do calls of cuDNN cost: convolutions and their gradients, products of matrices, attention?
#include "analyzer/analysis/cost/library_call_text.h"

namespace prof::analyzer {

namespace {

// A convolution and its gradients: 2·∏y·∏w, without w's first size (the output channels); its second size is the
// input channels of one group. matmul: 2·∏y·k, where k is the last size of x. Bytes: the three tensors.
LibraryCost product_cost(const CallArguments& product) {
  LibraryCost result;
  result.cost.no_flops = result.cost.no_bytes = NoCost::NoShapes;
  const std::optional<Shape> x = sizes_of(product.value("x")), w = sizes_of(product.value("w")),
                             y = sizes_of(product.value("y"));
  const ElementType *const a = element_type(product.value("A")), *const b = element_type(product.value("B")),
                           *const c = element_type(product.value("C"));
  if (!x || !w || !y || a == nullptr || b == nullptr || c == nullptr) return result;
  const bool matmul = product.value("op") == "matmul";
  const bool same_rank = x->size() == w->size() && x->size() == y->size() && x->size() >= (matmul ? 2u : 3u);
  if (!same_rank || (matmul ? x->back() != (*w)[w->size() - 2] : (*y)[1] != w->front())) {
    result.cost.no_flops = result.cost.no_bytes = NoCost::Misfit;
    return result;
  }
  const uint64_t each = matmul ? x->back() : elements_of(Shape(w->begin() + 1, w->end()));
  result.cost.type = a->type;
  set_matrix_cost(result.cost, times(2, times(elements_of(*y), each)), 0);
  result.peak = peak_type(a->type, {}, {});
  result.math_unknown = a->type == DataType::Fp32;
  result.cost.bytes =
      plus(bytes_of(*a, elements_of(*x)), plus(bytes_of(*b, elements_of(*w)), bytes_of(*c, elements_of(*y))));
  result.cost.no_bytes = NoCost::None;
  return result;
}

// The queries x are [b, h, sq, d], the keys w [b, hk, sk, d] in this order or transposed, the values v [b, hv, sk, dv]
// and the output y [b, h, sq, dv]. Scores are queries times keys, the output is scores times values:
// 2·b·h·sq·sk·(d + dv). The gradient computes the scores again, their gradient and the gradients of queries, keys
// and values: 2·b·h·sq·sk·(3·d + 2·dv). These counts are those of torch.utils.flop_counter. Bytes: the four
// tensors, and for a gradient also the gradient of each.
LibraryCost attention_call_cost(const CallArguments& call, bool gradient) {
  const std::optional<Shape> q = sizes_of(call.value("x")), k = sizes_of(call.value("w")),
                             v = sizes_of(call.value("v")), o = sizes_of(call.value("y"));
  const ElementType *const of_q = element_type(call.value("A")), *const of_k = element_type(call.value("B")),
                           *const of_v = element_type(call.value("V")), *const of_o = element_type(call.value("C"));
  if (!q || !k || !v || !o || of_q == nullptr) return without_cost(NoCost::NoShapes);
  if (q->size() != 4 || k->size() != 4 || v->size() != 4 || o->size() != 4) return without_cost(NoCost::Misfit);
  const uint64_t keys = (*v)[2], depth = (*q)[3], value_depth = (*v)[3];
  const bool keys_fit = ((*k)[2] == keys && (*k)[3] == depth) || ((*k)[2] == depth && (*k)[3] == keys);
  if (!keys_fit || (*o)[1] != (*q)[1] || (*o)[2] != (*q)[2] || (*o)[3] != value_depth)
    return without_cost(NoCost::Misfit);
  const uint64_t scores = times(times((*q)[0], (*q)[1]), times((*q)[2], keys));
  const uint64_t a_score = gradient ? plus(times(3, depth), times(2, value_depth)) : plus(depth, value_depth);
  LibraryCost result;
  result.cost.type = of_q->type;
  set_matrix_cost(result.cost, times(2, times(scores, a_score)), 0);
  result.cost.bytes.reset();
  result.cost.no_bytes = NoCost::NoType;
  result.peak = peak_type(of_q->type, {}, {});
  result.math_unknown = of_q->type == DataType::Fp32;
  if (of_k != nullptr && of_v != nullptr && of_o != nullptr) {
    const uint64_t bits = plus(plus(times(elements_of(*q), of_q->bits), times(elements_of(*k), of_k->bits)),
                               plus(times(elements_of(*v), of_v->bits), times(elements_of(*o), of_o->bits)));
    const uint64_t moved = times(gradient ? 2 : 1, bits);
    result.cost.bytes = moved == UINT64_MAX ? moved : moved / 8;
    result.cost.no_bytes = NoCost::None;
  }
  return result;
}

LibraryCost one_cost(const CallArguments& product) {
  const std::string_view op = product.value("op");
  if (op == "attention" || op == "attention_gradient") return attention_call_cost(product, op == "attention_gradient");
  return product_cost(product);
}

// Whether a plan may apply a mask between its products. The plan does not show which scores of an attention are
// computed.
bool may_mask(const CallArguments& call) {
  const std::vector<CallArguments> products = call.split("op");
  bool convolves = false, attends = false;
  for (const CallArguments& product : products) {
    convolves = convolves || product.value("op").starts_with("conv");
    attends = attends || product.value("op").starts_with("attention");
  }
  return attends || (!convolves && products.size() > 1 && call.number("operations") != products.size());
}

}  // namespace

// The cost of a plan is the sum over its products. If one of them has no FLOPs, the plan has none.
LibraryCost plan_cost(const CallArguments& call) {
  LibraryCost result;
  for (const CallArguments& product : call.split("op")) {
    const LibraryCost each = one_cost(product);
    if (!each.cost.flops) return each;
    if (!result.cost.flops) {
      result = each;
      continue;
    }
    result.cost.flops = result.cost.useful_flops = plus(*result.cost.flops, *each.cost.flops);
    if (each.peak != result.peak) result.peak.reset();  // the products use different types
    result.math_unknown = result.math_unknown || each.math_unknown;
  }
  if (call.value("operations") != "1") {  // a fused plan keeps some tensors on the chip
    result.cost.bytes.reset();
    result.cost.no_bytes = NoCost::NoFormula;
  }
  if (result.cost.flops && may_mask(call)) {
    result.cost.useful_flops.reset();
    result.cost.no_useful = NoCost::UsefulUnknown;
  }
  if (result.cost.flops == UINT64_MAX || result.cost.bytes == UINT64_MAX) {
    result.cost = no_cost(NoCost::Misfit);
    result.cost.known = false;
  }
  return result;
}

}  // namespace prof::analyzer
