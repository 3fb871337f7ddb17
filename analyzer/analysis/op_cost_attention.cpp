// Attention: scores are q·kᵀ and the result scores·v, so 2·b·h·sq·sk·(d + dv); the backward makes the scores again, their
// gradient and those of q, k and v: 2·b·h·sq·sk·(3·d + 2·dv). A causal mask leaves half of a square of scores to be worked out:
// that is what useful FLOPs count. Bytes: q, k, v and the output once, the backward also each gradient; scores are never
// written by the kernels these operators stand for.
#include "analyzer/analysis/op_cost.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

struct Attention {
  std::string_view op;
  bool heads_first;  // [b, h, s, d], else [b, s, h, d]
  bool backward;     // argument 0 is the gradient of the output
  size_t causal;     // argument
  size_t varying;    // argument with the ends of sequences of different lengths; 0: none
  bool mask_type;    // `causal` is a number: 0 none, 1 causal, 2 causal from the lower right
};
constexpr Attention kAttentions[] = {{"_scaled_dot_product_flash_attention", true, false, 4, 0, false},
                                     {"_flash_attention_forward", false, false, 8, 3, false},
                                     {"_scaled_dot_product_efficient_attention", true, false, 6, 0, false},
                                     {"_efficient_attention_forward", false, false, 9, 4, true},
                                     {"_scaled_dot_product_cudnn_attention", true, false, 6, 0, false},
                                     {"_cudnn_attention_forward", true, false, 10, 4, false},
                                     {"_scaled_dot_product_flash_attention_backward", true, true, 11, 6, false},
                                     {"_flash_attention_backward", false, true, 11, 6, false},
                                     {"_scaled_dot_product_efficient_attention_backward", true, true, 11, 0, false},
                                     {"_efficient_attention_backward", false, true, 14, 6, true},
                                     {"_scaled_dot_product_cudnn_attention_backward", true, true, 14, 9, false},
                                     {"_cudnn_attention_backward", true, true, 14, 9, false}};

std::optional<bool> is_causal(const Attention& form, const OpInputs& inputs) {
  if (!form.mask_type) return inputs.flag(form.causal);
  const std::optional<uint64_t> type = inputs.number(form.causal);
  return type ? std::optional(*type != 0) : std::nullopt;
}

}  // namespace

std::optional<OpCost> attention_cost(std::string_view op, const OpInputs& inputs) {
  const auto form = std::find_if(std::begin(kAttentions), std::end(kAttentions),
                                 [&](const Attention& each) { return each.op == op; });
  if (form == std::end(kAttentions)) return std::nullopt;
  if (form->varying != 0 && inputs.has_types() && inputs.is_tensor(form->varying)) {
    const std::optional<Shape> ends = inputs.tensor(form->varying);
    if (!ends || elements_of(*ends) != 0) return no_cost(NoCost::Varying);
  }
  const size_t first = form->backward ? 1 : 0;
  const std::optional<Shape> q = inputs.tensor(first), k = inputs.tensor(first + 1), v = inputs.tensor(first + 2);
  if (!q || !k || !v) return no_cost(NoCost::NoShapes);
  if (q->size() != 4 || k->size() != 4 || v->size() != 4) return no_cost(NoCost::Misfit);
  const size_t head = form->heads_first ? 1 : 2, place = form->heads_first ? 2 : 1;
  const uint64_t batch = q->front(), heads = (*q)[head], queries = (*q)[place], keys = (*k)[place];
  const uint64_t depth = q->back(), value_depth = v->back(), key_heads = (*k)[head];
  const bool fits = k->front() == batch && v->front() == batch && (*v)[place] == keys && k->back() == depth &&
                    (*v)[head] == key_heads && key_heads != 0 && heads % key_heads == 0;
  if (!fits) return no_cost(NoCost::Misfit);

  const uint64_t scores = times(times(batch, heads), times(queries, keys));
  const uint64_t a_score = form->backward ? plus(times(3, depth), times(2, value_depth)) : plus(depth, value_depth);
  const uint64_t output = times(times(batch, heads), times(queries, value_depth));
  const uint64_t operands = plus(plus(elements_of(*q), elements_of(*k)), elements_of(*v));
  const uint64_t moved = form->backward ? plus(times(2, operands), times(2, output)) : plus(operands, output);
  OpCost cost;
  cost.type = inputs.type(first);
  set_matrix_cost(cost, times(2, times(scores, a_score)), moved);
  const std::optional<bool> causal = is_causal(*form, inputs);
  cost.causal = causal.value_or(false);
  if (!causal) cost.useful_flops.reset();
  if (cost.causal && queries == keys) cost.useful_flops = *cost.flops / 2;
  return cost;
}

}  // namespace prof::analyzer
