// FLOPs and bytes of attention, forward and backward, and which part remains under a mask: each computed by hand.
#include "analyzer/analysis/cost/op_cost.h"

#include "tests/unit/analyzer/analysis/cost/op_cost_text.h"

namespace prof::analyzer {
namespace {

using namespace tests;

TEST(OpCostAttention, AttentionIsTwoProductsAndHalfIsUsefulWhereCausal) {
  // b 2, h 3, s 4, d 8: 2·2·3·16·(8 + 8) = 3072; q, k, v, out of 192 elements.
  const std::string types = types_of(kBf16, 3, 4);
  const std::string_view dims = "[[2,3,4,8],[2,3,4,8],[2,3,4,8],[],[],[],[]]";
  expect(cost("aten::_scaled_dot_product_flash_attention", dims, types, R"(["","","","0.","False","False","0.125"])"),
         3072, 3072, 4 * 192 * 2);
  expect(cost("aten::_scaled_dot_product_flash_attention", dims, types, R"(["","","","0.","True","False","0.125"])"),
         3072, 1536, 4 * 192 * 2);
  // Another order of dimensions: 4 positions, 3 heads.
  const std::string flash =
      R"(["c10::Half","c10::Half","c10::Half","","","Scalar","Scalar","Scalar","Scalar","Scalar"])";
  expect(cost("aten::_flash_attention_forward", "[[2,4,3,8],[2,6,3,8],[2,6,3,8],[],[],[],[],[],[],[]]", flash,
              R"(["","","","","","4","6","0.","True","False"])"),
         2 * 2 * 3 * 24 * 16, 2 * 2 * 3 * 16 * 16, (192 + 288 + 288 + 192) * 2);
}

TEST(OpCostAttention, ACausalMaskHoldsOnToTheUpperLeftOrTheLowerRight) {
  // 2 queries, 6 keys, one head of 8: 2·12·16 = 384 FLOPs. Upper left: half of the first 2 × 2 scores. Lower right:
  // all scores except half of 2 × 2.
  const std::string types = types_of(kBf16, 3, 4);
  const std::string_view few = "[[1,1,2,8],[1,1,6,8],[1,1,6,8],[],[],[],[]]",
                         many = "[[1,1,6,8],[1,1,2,8],[1,1,2,8],[],[],[],[]]";
  const auto useful = [&](std::string_view op, std::string_view dims, std::string_view concrete) {
    const OpCost found = cost(op, dims, types, concrete);
    EXPECT_EQ(found.flops, 384u);
    EXPECT_TRUE(found.causal);
    return found.useful_flops;
  };
  const std::string_view fifth = R"(["","","","0.","True","False","0.1"])",
                         seventh = R"(["","","","True","0.","False","True"])";
  EXPECT_EQ(useful("aten::_scaled_dot_product_flash_attention", few, fifth), 384u - 64);
  EXPECT_EQ(useful("aten::_scaled_dot_product_flash_attention", many, fifth), 64u);
  EXPECT_EQ(useful("aten::_scaled_dot_product_efficient_attention", few, seventh), 64u);
  EXPECT_EQ(useful("aten::_scaled_dot_product_efficient_attention", many, seventh), 384u - 64);
  EXPECT_EQ(useful("aten::_scaled_dot_product_cudnn_attention", few, seventh), 64u);
  // The kind of the mask as a number: 0 none, 1 upper left, 2 lower right.
  const std::string efficient = R"(["float","float","float","","","","Scalar","Scalar","Scalar","Scalar","Scalar"])";
  const auto numbered = [&](std::string_view kind) {
    const std::string concrete = R"(["","","","","","","2","6","0.",")" + std::string(kind) + R"(","False"])";
    return cost("aten::_efficient_attention_forward", "[[1,2,1,8],[1,6,1,8],[1,6,1,8],[],[],[],[],[],[],[],[]]",
                efficient, concrete);
  };
  EXPECT_EQ(numbered("0").useful_flops, 384u);
  EXPECT_EQ(numbered("1").useful_flops, 64u);
  EXPECT_EQ(numbered("2").useful_flops, 320u);
  EXPECT_FALSE(numbered("3").useful_flops);
}

TEST(OpCostAttention, AMaskThatTheTraceDoesNotTellLeavesUsefulFlopsBlankWithAReason) {
  const OpCost unknown =
      cost("aten::_scaled_dot_product_flash_attention", "[[1,1,2,8],[1,1,6,8],[1,1,6,8],[],[]]", types_of(kBf16, 3, 2));
  EXPECT_EQ(unknown.flops, 384u);
  EXPECT_FALSE(unknown.useful_flops);
  EXPECT_EQ(unknown.no_useful, NoCost::NoArguments);
  const auto windowed = [](std::string_view left, std::string_view right) {
    const std::string concrete = R"(["","","","0.","0.1","True",")" + std::string(left) + R"(",")" +
                                 std::string(right) + R"(","0.","","False"])";
    return cost(
        "flash_attn::_flash_attn_forward", "[[1,2,1,8],[1,6,1,8],[1,6,1,8],[],[],[],[],[],[],[],[]]",
        R"(["c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","","Scalar"])",
        concrete);
  };
  EXPECT_EQ(windowed("-1", "-1").useful_flops, 320u);
  EXPECT_FALSE(windowed("3", "-1").useful_flops);
  EXPECT_EQ(windowed("3", "-1").no_useful, NoCost::Windowed);
  EXPECT_EQ(windowed("-1", "0").no_useful, NoCost::Windowed);
}

TEST(OpCostAttention, SequencesBehindEachOtherCountWhereAllAreEqual) {
  // 3 sequences of 4 queries and 8 keys, 2 heads of 16: 3·2·2·32·32 FLOPs. Lower right: all except half of 4 × 4
  // scores.
  const std::string types =
      R"(["c10::Half","c10::Half","c10::Half","int","int","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","","Scalar","","",""])";
  const auto packed = [&](std::string_view dims, std::string_view longest) {
    return cost(
        "flash_attn::_flash_attn_varlen_forward", dims, types,
        R"(["","","","","",)" + std::string(longest) + R"(,"0.","0.1","True","-1","-1","0.","","False","","",""])");
  };
  const std::string_view dims = "[[12,2,16],[24,2,16],[24,2,16],[4],[4],[],[],[],[],[],[],[],[],[],[],[],[],[]]";
  const OpCost equal = packed(dims, R"("4","8")");
  expect(equal, 2 * 3 * 2 * 32 * 32, 2 * 3 * 2 * (32 - 8) * 32, (2 * 384 + 2 * 768) * 2);
  // The longest length times the number of sequences exceeds the sum, so the lengths differ.
  EXPECT_EQ(packed(dims, R"("5","8")").no_flops, NoCost::Varying);
  EXPECT_EQ(packed(dims, R"("4","9")").no_flops, NoCost::Varying);
  EXPECT_EQ(packed(dims, R"("","")").no_flops, NoCost::Varying);
  // There is only one sequence.
  const OpCost one =
      packed("[[12,2,16],[24,2,16],[24,2,16],[2],[2],[],[],[],[],[],[],[],[],[],[],[],[],[]]", R"("","")");
  EXPECT_EQ(one.flops, 2u * 2 * 12 * 24 * 32);
  // Keys in pages: how many of them the sequences use is unknown.
  const OpCost paged = cost(
      "flash_attn::_flash_attn_varlen_forward",
      "[[12,2,16],[9,16,2,16],[9,16,2,16],[4],[4],[],[],[],[],[],[],[],[],[],[],[3,3],[],[]]",
      R"(["c10::Half","c10::Half","c10::Half","int","int","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","","Scalar","int","",""])",
      R"(["","","","","","4","8","0.","0.1","True","-1","-1","0.","","False","","",""])");
  EXPECT_EQ(paged.no_flops, NoCost::Varying);
}

TEST(OpCostAttention, BackwardOfThePackageFlashAttn) {
  // As above, with five products: a score takes 3·16 + 2·16.
  const std::string types =
      R"(["c10::Half","c10::Half","c10::Half","c10::Half","c10::Half","float","c10::Half","c10::Half","c10::Half","int","int","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","","Scalar",""])";
  const OpCost packed =
      cost("flash_attn::_flash_attn_varlen_backward",
           "[[12,2,16],[12,2,16],[24,2,16],[24,2,16],[12,2,16],[2,12],[12,2,16],[24,2,16],[24,2,16],[4],[4]"
           ",[],[],[],[],[],[],[],[],[],[],[]]",
           types, R"(["","","","","","","","","","","","4","8","0.","0.1","False","-1","-1","0.","","False",""])");
  expect(packed, 2 * 3 * 2 * 32 * 80, 2 * 3 * 2 * 32 * 80, (2 * (384 + 768 + 768) + 2 * 384) * 2);
  const std::string dense =
      R"(["c10::Half","c10::Half","c10::Half","c10::Half","c10::Half","float","c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","","Scalar",""])";
  const OpCost square =
      cost("flash_attn::_flash_attn_backward",
           "[[3,4,2,16],[3,4,2,16],[3,4,2,16],[3,4,2,16],[3,4,2,16],[3,2,4],[],[],[],[],[],[],[],[],[],[],[],[]]",
           dense, R"(["","","","","","","","","","0.","0.1","True","-1","-1","0.","","False",""])");
  expect(square, 2 * 3 * 2 * 16 * 80, 3 * 2 * 16 * 80, 8 * 384 * 2);
  EXPECT_FALSE(cost("flash_attn::mm", "[[2,3],[3,5]]", types_of(kFloat, 2)).known);
}

TEST(OpCostAttention, AttentionAsItIsAskedForCountsWhereNothingInsideDoes) {
  // Eight arguments, heads and batch first; with three dimensions the heads are the batch.
  const std::string types = R"(["float","float","float","","Scalar","Scalar","","Scalar"])";
  const std::string_view causal = R"(["","","","","0.","True","","False"])";
  expect(cost("aten::scaled_dot_product_attention", "[[2,3,4,8],[2,3,4,8],[2,3,4,8],[],[],[],[],[]]", types, causal),
         3072, 1536, 4 * 192 * 4);
  expect(cost("aten::scaled_dot_product_attention", "[[6,4,8],[6,4,8],[6,4,8],[],[],[],[],[]]", types, causal), 3072,
         1536, 4 * 192 * 4);
  EXPECT_EQ(cost("aten::scaled_dot_product_attention", "[[4,8],[4,8],[4,8],[],[],[],[],[]]", types, causal).no_flops,
            NoCost::Misfit);
}

TEST(OpCostAttention, AttentionBackwardIsFiveProducts) {
  // 2·b·h·sq·sk·(3·8 + 2·8) = 2·6·16·40 = 7680; q, k, v and their gradients, the output and its gradient.
  const std::string types =
      R"(["float","float","float","float","float","float","","","Scalar","Scalar","Scalar","Scalar"])";
  expect(cost("aten::_flash_attention_backward",
              "[[2,4,3,8],[2,4,3,8],[2,4,3,8],[2,4,3,8],[2,4,3,8],[2,3,4],[],[],[],[],[],[]]", types,
              R"(["","","","","","","","","4","4","0.","True"])"),
         7680, 3840, 8 * 192 * 4);
}

TEST(OpCostAttention, KeysMayBeSharedByHeads) {
  expect(cost("aten::_scaled_dot_product_flash_attention", "[[1,8,4,16],[1,2,4,16],[1,2,4,16],[],[]]",
              types_of(kBf16, 3, 2), R"(["","","","0.","False"])"),
         2 * 8 * 16 * 32, 2 * 8 * 16 * 32, (512 + 128 + 128 + 512) * 2);
}

TEST(OpCostAttention, SequencesOfDifferentLengthsHaveNoNumber) {
  const std::string types = R"(["c10::Half","c10::Half","c10::Half","int","int","Scalar","Scalar","Scalar","Scalar"])";
  const OpCost varying = cost("aten::_flash_attention_forward", "[[2,4,3,8],[2,4,3,8],[2,4,3,8],[3],[3],[],[],[],[]]",
                              types, R"(["","","","","","4","4","0.","False"])");
  EXPECT_FALSE(varying.flops);
  EXPECT_EQ(varying.no_flops, NoCost::Varying);
}

}  // namespace
}  // namespace prof::analyzer
