// What does attention cost? Scores are q·kᵀ and the result is scores·v: 2·b·h·sq·sk·(d + dv) FLOPs. The
// backward computes the scores again, their gradient and the gradients of q, k and v: 2·b·h·sq·sk·(3·d + 2·dv).
// With a causal mask only some scores need computing; useful FLOPs count those. Bytes: q, k, v and the output once, for
// the backward also each gradient. The kernels of these operators never write the scores to memory.
#include "analyzer/analysis/cost/op_cost.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

// HeadsFirst: [b, h, s, d]. PlacesFirst: [b, s, h, d]; concatenated sequences are [s of all, h, d] or [1, s of all, h,
// d].
enum class AxisOrder : uint8_t { HeadsFirst, PlacesFirst };
// Which end of the diagonal a causal mask is aligned to if the numbers of queries and keys differ.
//   UpperLeft   query i sees the first i + 1 keys: torch.nn.functional.scaled_dot_product_attention, cuDNN's causal
//               mask
//   LowerRight  the last query sees all keys: FlashAttention since 2.1
//   Number      the argument is 0 for no mask, 1 and 2 for these two (CustomMaskType)
enum class Mask : uint8_t { UpperLeft, LowerRight, Number };

// Adjacent arguments; count 0: none.
struct Arguments {
  size_t first = 0, count = 0;
};
struct Attention {
  std::string_view op;
  AxisOrder order;
  bool backward;  // argument 0 is the gradient of the output
  size_t causal;  // argument
  Mask mask;
  Arguments ends;    // ends of concatenated sequences, of queries and of keys
  size_t longest;    // length of the longest sequence of queries; that of keys follows it
  Arguments window;  // number of neighbouring keys that a query sees, if not all
  Arguments pages;   // tensors that select the keys in use
};
constexpr Attention kAttentions[] = {
    {"scaled_dot_product_attention", AxisOrder::HeadsFirst, false, 5, Mask::UpperLeft, {}, 0, {}, {}},
    {"_scaled_dot_product_flash_attention", AxisOrder::HeadsFirst, false, 4, Mask::LowerRight, {}, 0, {}, {}},
    {"_flash_attention_forward", AxisOrder::PlacesFirst, false, 8, Mask::LowerRight, {3, 2}, 5, {11, 2}, {13, 1}},
    {"_scaled_dot_product_efficient_attention", AxisOrder::HeadsFirst, false, 6, Mask::UpperLeft, {}, 0, {}, {}},
    {"_efficient_attention_forward", AxisOrder::PlacesFirst, false, 9, Mask::Number, {4, 2}, 6, {13, 1}, {12, 1}},
    {"_scaled_dot_product_cudnn_attention", AxisOrder::HeadsFirst, false, 6, Mask::UpperLeft, {}, 0, {}, {}},
    {"_cudnn_attention_forward", AxisOrder::HeadsFirst, false, 10, Mask::UpperLeft, {4, 2}, 6, {}, {}},
    {"_scaled_dot_product_flash_attention_backward",
     AxisOrder::HeadsFirst,
     true,
     11,
     Mask::LowerRight,
     {6, 2},
     8,
     {},
     {}},
    {"_flash_attention_backward", AxisOrder::PlacesFirst, true, 11, Mask::LowerRight, {6, 2}, 8, {15, 2}, {}},
    {"_scaled_dot_product_efficient_attention_backward",
     AxisOrder::HeadsFirst,
     true,
     11,
     Mask::UpperLeft,
     {},
     0,
     {},
     {}},
    {"_efficient_attention_backward", AxisOrder::PlacesFirst, true, 14, Mask::Number, {6, 2}, 8, {18, 1}, {}},
    {"_scaled_dot_product_cudnn_attention_backward",
     AxisOrder::HeadsFirst,
     true,
     14,
     Mask::UpperLeft,
     {9, 2},
     11,
     {},
     {}},
    {"_cudnn_attention_backward", AxisOrder::HeadsFirst, true, 14, Mask::UpperLeft, {9, 2}, 11, {}, {}},
    // The package flash_attn, version 2.7 and later.
    {"_flash_attn_forward", AxisOrder::PlacesFirst, false, 5, Mask::LowerRight, {}, 0, {6, 2}, {}},
    {"_flash_attn_backward", AxisOrder::PlacesFirst, true, 11, Mask::LowerRight, {}, 0, {12, 2}, {}},
    {"_flash_attn_varlen_forward", AxisOrder::PlacesFirst, false, 9, Mask::LowerRight, {3, 2}, 5, {10, 2}, {15, 3}},
    {"_flash_attn_varlen_backward", AxisOrder::PlacesFirst, true, 15, Mask::LowerRight, {9, 2}, 11, {16, 2}, {}}};

// Sizes of an attention whose sequences are equally long.
struct AttentionSizes {
  uint64_t batch = 0, heads = 0, key_heads = 0, queries = 0, keys = 0, depth = 0, value_depth = 0;
};

// [b, h, s, d] for a tensor of either order. Further leading dimensions are multiplied into the batch.
std::optional<Shape> in_order(const Shape& shape, AxisOrder order) {
  if (shape.size() < 3) return std::nullopt;
  Shape four{1, shape.end()[-3], shape.end()[-2], shape.end()[-1]};
  for (size_t i = 0; i + 3 < shape.size(); ++i) four[0] = times(four[0], shape[i]);
  if (order == AxisOrder::PlacesFirst) std::swap(four[1], four[2]);
  return four;
}

// nullopt: the shapes do not fit each other.
std::optional<AttentionSizes> attention_sizes(const Shape& q, const Shape& k, const Shape& v) {
  const AttentionSizes sizes{q[0], q[1], k[1], q[2], k[2], q[3], v[3]};
  const bool fits = k[0] == sizes.batch && v[0] == sizes.batch && v[2] == sizes.keys && k[3] == sizes.depth &&
                    v[1] == sizes.key_heads && sizes.key_heads != 0 && sizes.heads % sizes.key_heads == 0;
  return fits ? std::optional(sizes) : std::nullopt;
}

// Splits concatenated sequences. Only tensors in GPU memory have their lengths. The lengths are known to be equal if
// there is one sequence, or if the longest length times their number is the sum. nullopt: they may differ.
std::optional<AttentionSizes> cut(AttentionSizes sizes, const Attention& form, const OpInputs& inputs) {
  const std::optional<Shape> ends = inputs.tensor(form.ends.first), of_keys = inputs.tensor(form.ends.first + 1);
  if (!ends || ends != of_keys || ends->size() != 1 || ends->front() < 2) return std::nullopt;
  if (sizes.batch != 1 || form.order == AxisOrder::HeadsFirst) return std::nullopt;
  const uint64_t count = ends->front() - 1;
  for (const auto& [length, longest] :
       {std::pair(&sizes.queries, form.longest), std::pair(&sizes.keys, form.longest + 1)}) {
    const uint64_t most = count == 1 ? *length : inputs.number(longest).value_or(0);
    if (most == 0 || times(count, most) != *length) return std::nullopt;
    *length = most;
  }
  sizes.batch = count;
  return sizes;
}

// The part of `flops` that a causal mask leaves. `corner`: half of the square whose side is the smaller of queries and
// keys.
uint64_t causal_flops(uint64_t flops, const AttentionSizes& sizes, uint64_t a_score, bool lower_right) {
  const uint64_t least = std::min(sizes.queries, sizes.keys);
  const uint64_t corner = times(times(sizes.batch, sizes.heads), times(times(least, least), a_score));
  const bool corner_only = lower_right ? sizes.queries > sizes.keys : sizes.queries < sizes.keys;
  return corner_only ? corner : flops - std::min(flops, corner);
}

void set_useful(OpCost& cost, const Attention& form, const AttentionSizes& sizes, uint64_t a_score,
                const OpInputs& inputs) {
  std::optional<bool> causal;
  bool lower_right = form.mask == Mask::LowerRight;
  if (form.mask == Mask::Number) {
    const std::optional<uint64_t> kind = inputs.number(form.causal);
    if (kind && *kind <= 2) {
      causal = *kind != 0;
      lower_right = *kind == 2;
    }
  } else {
    causal = inputs.flag(form.causal);
  }
  cost.causal = causal.value_or(false);
  NoCost reason = causal ? NoCost::None : NoCost::NoArguments;
  for (size_t i = form.window.first; i < std::min(form.window.first + form.window.count, inputs.size()); ++i) {
    if (inputs.is_none(i) == true) continue;
    const std::optional<int64_t> seen = inputs.integer(i);
    if (!seen) {
      reason = NoCost::NoArguments;
    } else if (*seen > 0 || (*seen == 0 && form.mask != Mask::Number)) {  // there 0 means all keys
      reason = NoCost::Windowed;
    }
  }
  if (reason != NoCost::None) {
    cost.useful_flops.reset();
    cost.no_useful = reason;
  } else if (cost.causal) {
    cost.useful_flops = causal_flops(*cost.flops, sizes, a_score, lower_right);
  }
}

bool any_given(const OpInputs& inputs, const Arguments& arguments) {
  for (size_t i = arguments.first; i < arguments.first + arguments.count; ++i) {
    const std::optional<Shape> shape = inputs.has_types() && inputs.is_tensor(i) ? inputs.tensor(i) : Shape{0};
    if (!shape || elements_of(*shape) != 0) return true;
  }
  return false;
}

}  // namespace

std::optional<OpCost> attention_cost(std::string_view op, const OpInputs& inputs) {
  const auto form = std::find_if(std::begin(kAttentions), std::end(kAttentions),
                                 [&](const Attention& each) { return each.op == op; });
  if (form == std::end(kAttentions)) return std::nullopt;
  if (any_given(inputs, form->pages)) return no_cost(NoCost::Varying);
  const size_t first = form->backward ? 1 : 0;
  const std::optional<Shape> q = inputs.tensor(first), k = inputs.tensor(first + 1), v = inputs.tensor(first + 2);
  if (!q || !k || !v) return no_cost(NoCost::NoShapes);
  const std::optional<Shape> query = in_order(*q, form->order), key = in_order(*k, form->order),
                             value = in_order(*v, form->order);
  if (!query || !key || !value) return no_cost(NoCost::Misfit);
  std::optional<AttentionSizes> sizes = attention_sizes(*query, *key, *value);
  if (!sizes) return no_cost(NoCost::Misfit);
  if (any_given(inputs, form->ends)) sizes = cut(*sizes, *form, inputs);
  if (!sizes) return no_cost(NoCost::Varying);

  const uint64_t scores = times(times(sizes->batch, sizes->heads), times(sizes->queries, sizes->keys));
  const uint64_t a_score = form->backward ? plus(times(3, sizes->depth), times(2, sizes->value_depth))
                                          : plus(sizes->depth, sizes->value_depth);
  const uint64_t output = times(times(sizes->batch, sizes->heads), times(sizes->queries, sizes->value_depth));
  const uint64_t operands = plus(plus(elements_of(*q), elements_of(*k)), elements_of(*v));
  const uint64_t moved = form->backward ? plus(times(2, operands), times(2, output)) : plus(operands, output);
  OpCost cost;
  cost.type = inputs.type(first);
  set_matrix_cost(cost, times(2, times(scores, a_score)), moved);
  set_useful(cost, *form, *sizes, a_score, inputs);
  return cost;
}

}  // namespace prof::analyzer
