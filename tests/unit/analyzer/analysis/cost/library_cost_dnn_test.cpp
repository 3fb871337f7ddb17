// FLOPs and bytes of cuDNN's calls: convolutions, products and attentions, each computed by hand.
#include "analyzer/analysis/cost/library_cost.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>

namespace prof::analyzer {
namespace {

TEST(LibraryCostDnn, AConvolutionIsItsOutputTimesItsKernel) {
  const std::string_view sizes = "x=2x8x10x10, w=6x4x3x3, y=2x6x8x8, A=bf16, B=bf16, C=fp32, operations=";
  for (const std::string_view op : {"conv_forward", "conv_input_gradient", "conv_weight_gradient"}) {
    const auto found = library_cost("cudnnBackendExecute(op=" + std::string(op) + ", " + std::string(sizes) + "1)");
    ASSERT_TRUE(found && found->cost.known) << op;
    EXPECT_EQ(found->cost.flops, 55296u)
        << op;  // 2 · (2·6·8·8 = 768) · (4·3·3 = 36): two groups of four input channels
    EXPECT_EQ(found->cost.bytes, 6704u) << op;  // 1600·2 + 216·2 + 768·4
    EXPECT_EQ(found->peak, PeakType::Bf16);
    EXPECT_FALSE(found->math_unknown);
  }
  const auto fused = library_cost("cudnnBackendExecute(op=conv_forward, " + std::string(sizes) + "3)");
  EXPECT_EQ(fused->cost.flops, 55296u);
  EXPECT_EQ(fused->cost.bytes, std::nullopt);
}

TEST(LibraryCostDnn, AnElementOfFp4IsHalfAByte) {
  const auto found = library_cost(
      "cudnnBackendExecute(op=matmul, x=1x5x7, w=1x7x3, y=1x5x3, A=fp4_e2m1, B=fp4_e2m1, C=bf16, operations=1)");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cost.flops, 210u);
  EXPECT_EQ(found->cost.bytes, 59u);  // 35 halves, 21 halves, 15 pairs: 18 + 11 + 30
  EXPECT_EQ(found->peak, PeakType::Fp4);
}

TEST(LibraryCostDnn, BytesThatDoNotFitIntoANumberAreNone) {
  const auto found = library_cost(
      "cudnnBackendExecute(op=matmul, x=1x2147483648x1, w=1x1x1073741824, y=1x2147483648x1073741824, A=fp64, B=fp64, "
      "C=fp64, operations=1)");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cost.flops, std::nullopt);
  EXPECT_EQ(found->cost.bytes, std::nullopt);
}

TEST(LibraryCostDnn, AProductOfCudnnIsOneOfAnyBatch) {
  const auto found = library_cost(
      "cudnnBackendExecute(op=matmul, x=4x5x6x7, w=4x5x7x8, y=4x5x6x8, A=fp32, B=fp32, C=fp32, operations=1)");
  ASSERT_TRUE(found && found->cost.known);
  EXPECT_EQ(found->cost.flops, 13440u);  // 2·4·5·6·8·7
  EXPECT_TRUE(found->math_unknown);
}

// An attention: queries × keys take 2·(2·4·128·128)·64 FLOPs, weights × values take 2·(2·4·128·64)·128.
TEST(LibraryCostDnn, ProductsOfOnePlanAreAdded) {
  const std::string first = "op=matmul, x=2x4x128x64, w=2x4x64x128, y=2x4x128x128, A=bf16, B=bf16, C=fp32, ",
                    second = "op=matmul, x=2x4x128x128, w=2x2x128x64, y=2x4x128x64, A=bf16, B=bf16, C=bf16, ",
                    third = "op=matmul, x=2x4x128x128, w=2x4x128x64, y=2x4x128x64, A=fp16, B=fp16, C=fp16, ";
  const auto call = [](const std::string& products) {
    return library_cost("cudnnBackendExecute(" + products + "operations=7, engine=5)");
  };
  const auto found = call(first + second);
  ASSERT_TRUE(found && found->cost.known);
  EXPECT_EQ(found->cost.flops, 33554432u);
  EXPECT_EQ(found->cost.useful_flops, std::nullopt);  // there may be a mask between them
  EXPECT_EQ(found->cost.no_useful, NoCost::UsefulUnknown);
  EXPECT_EQ(found->cost.bytes, std::nullopt);  // intermediate tensors stay on the chip
  EXPECT_EQ(found->peak, PeakType::Bf16);
  const auto mixed = call(first + third);
  EXPECT_EQ(mixed->cost.flops, 33554432u);
  EXPECT_EQ(mixed->peak, std::nullopt);  // two types have no common peak
  const auto misfit = call(first + "op=matmul, x=2x4x128x128, w=2x4x64x64, y=2x4x128x64, A=bf16, B=bf16, C=bf16, ");
  EXPECT_EQ(misfit->cost.flops, std::nullopt);
  EXPECT_FALSE(misfit->cost.known);
}

TEST(LibraryCostDnn, SizesOfAPlanThatDoNotFitAreNoNumber) {
  for (const std::string_view sizes :
       {"x=?, w=6x4x3x3, y=2x6x8x8", "x=2x8x10x10, w=6x4x3x3, y=2x7x8x8", "x=2x8x10, w=6x4x3x3, y=2x6x8x8",
        "x=2x8x10x10, w=6x4x3x3, y=2x6x8xx", "x=2x8x10x10, w=6x4x3x3, y=4294967296x6x4294967296x4294967296"}) {
    const auto found = library_cost("cudnnBackendExecute(op=conv_forward, " + std::string(sizes) +
                                    ", A=fp16, B=fp16, C=fp16, operations=1)");
    ASSERT_TRUE(found) << sizes;
    EXPECT_FALSE(found->cost.known) << sizes;
    EXPECT_EQ(found->cost.flops, std::nullopt) << sizes;
  }
}

// Two batches, three heads, 4 queries, 6 keys, 8 numbers per key and 10 per value: 2·2·3·4·6·(8 + 10) FLOPs.
TEST(LibraryCostDnn, AnAttentionIsTwoProductsAndItsGradientFive) {
  const std::string types = "A=bf16, B=bf16, V=bf16, C=fp16, operations=1)";
  for (const std::string_view keys : {"2x3x6x8", "2x3x8x6"}) {  // or transposed, as a product needs them
    const std::string sizes = fmt::format("x=2x3x4x8, w={}, v=2x3x6x10, y=2x3x4x10, {}", keys, types);
    const auto forward = library_cost("cudnnBackendExecute(op=attention, " + sizes);
    ASSERT_TRUE(forward && forward->cost.known) << keys;
    EXPECT_EQ(forward->cost.flops, 5184u) << keys;
    EXPECT_EQ(forward->cost.bytes, (192u + 288 + 360 + 240) * 2) << keys;
    EXPECT_EQ(forward->peak, PeakType::Bf16);
    EXPECT_EQ(forward->cost.useful_flops, std::nullopt);
    EXPECT_EQ(forward->cost.no_useful, NoCost::UsefulUnknown);
    const auto gradient = library_cost("cudnnBackendExecute(op=attention_gradient, " + sizes);
    ASSERT_TRUE(gradient && gradient->cost.known) << keys;
    EXPECT_EQ(gradient->cost.flops, 12672u) << keys;  // 2·2·3·4·6·(3·8 + 2·10)
    EXPECT_EQ(gradient->cost.bytes, 2 * (192u + 288 + 360 + 240) * 2) << keys;
  }
}

TEST(LibraryCostDnn, AnAttentionCountsTheHeadsOfItsQueriesThoughTheyShareKeys) {
  const auto found = library_cost(
      "cudnnBackendExecute(op=attention, x=1x8x4x16, w=1x2x4x16, v=1x2x4x16, y=1x8x4x16, A=fp16, B=fp16, V=fp16, "
      "C=fp16, "
      "operations=1)");
  EXPECT_EQ(found->cost.flops, 2u * 8 * 16 * 32);
  EXPECT_EQ(found->cost.bytes, (512u + 128 + 128 + 512) * 2);
  // With other operations in the plan, some of the tensors stay on the chip.
  const auto fused = library_cost(
      "cudnnBackendExecute(op=attention, x=1x8x4x16, w=1x2x4x16, v=1x2x4x16, y=1x8x4x16, A=fp16, B=fp16, V=fp16, "
      "C=fp16, "
      "operations=2)");
  EXPECT_EQ(fused->cost.flops, 2u * 8 * 16 * 32);
  EXPECT_EQ(fused->cost.bytes, std::nullopt);
}

TEST(LibraryCostDnn, AnAttentionWhoseKeysAreNotKnownHasNoNumber) {
  for (const std::string_view sizes :
       {"x=2x3x4x8, w=?, v=?, y=2x3x4x10", "x=2x3x4x8, w=2x3x6x8, v=2x3x7x10, y=2x3x4x10",
        "x=2x3x4x8, w=2x3x6x8, v=2x3x6x10, y=2x3x4x8", "x=2x3x4x8, w=2x3x6x8, v=3x6x10, y=2x3x4x10",
        "x=4294967296x4294967296x4x8, w=2x3x6x8, v=2x3x6x10, y=2x4294967296x4x10"}) {
    const auto found = library_cost(
        fmt::format("cudnnBackendExecute(op=attention, {}, A=bf16, B=bf16, V=bf16, C=bf16, operations=1)", sizes));
    ASSERT_TRUE(found) << sizes;
    EXPECT_FALSE(found->cost.known) << sizes;
    EXPECT_EQ(found->cost.flops, std::nullopt) << sizes;
    EXPECT_EQ(found->cost.bytes, std::nullopt) << sizes;
  }
}

}  // namespace
}  // namespace prof::analyzer
