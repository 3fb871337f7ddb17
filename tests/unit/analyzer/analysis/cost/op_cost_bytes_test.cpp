// Bytes of operators that are limited by memory, and products with vectors and groups: one case computed by hand for
// every formula.
#include "analyzer/analysis/cost/op_cost.h"

#include <gtest/gtest.h>

#include <string>

namespace prof::analyzer {
namespace {

OpCost cost_of(std::string_view op, std::string_view dims, std::string_view types, std::string_view concrete = "",
               DataType assumed = DataType::Unknown) {
  return op_cost(op, OpInputs(dims, types, concrete, assumed));
}

// Expects the bytes, and that no FLOPs are counted for such an operator.
void expect_bytes(const OpCost& cost, uint64_t bytes) {
  EXPECT_EQ(cost.bytes, std::optional(bytes));
  EXPECT_EQ(cost.no_bytes, NoCost::None);
  EXPECT_FALSE(cost.flops);
  EXPECT_EQ(cost.no_flops, NoCost::NotCounted);
}
void expect_none(const OpCost& cost, NoCost reason) {
  EXPECT_FALSE(cost.bytes);
  EXPECT_EQ(cost.no_bytes, reason);
}

TEST(OpCostBytes, ProductsWithVectorsAreTwoForEachElementAndNoMatrixProduct) {
  // [3, 5] · [5]: 30 FLOPs; 15 + 5 + 3 elements of 4 bytes, and 3 more that are added.
  const OpCost mv = cost_of("aten::mv", "[[3,5],[5]]", R"(["float","float"])");
  EXPECT_EQ(mv.flops, 30u);
  EXPECT_EQ(mv.bytes, 92u);
  EXPECT_FALSE(mv.matrix);
  const std::string_view types = R"(["float","float","float","Scalar","Scalar"])", dims = "[[3],[3,5],[5],[],[]]";
  EXPECT_EQ(cost_of("aten::addmv_", dims, types, R"(["","","","0","1"])").bytes, 92u);
  EXPECT_EQ(cost_of("aten::addmv", dims, types, R"(["","","","1","1"])").bytes, 104u);
  const OpCost dot = cost_of("aten::dot", "[[7],[7]]", R"(["double","double"])");
  EXPECT_EQ(dot.flops, 14u);
  EXPECT_EQ(dot.bytes, 15u * 8);
  EXPECT_EQ(cost_of("aten::vdot", "[[7],[7]]", R"(["c10::complex<float>","c10::complex<float>"])").flops, 56u);
  EXPECT_EQ(cost_of("aten::mv", "[[3,5],[4]]", R"(["float","float"])").no_flops, NoCost::Misfit);
  EXPECT_EQ(cost_of("aten::dot", "[[7],[8]]", R"(["float","float"])").no_flops, NoCost::Misfit);
}

TEST(OpCostBytes, GroupsWhoseSizesOnlyTheGpuKnowsHaveNoNumber) {
  const std::string_view cut = R"(["c10::BFloat16","c10::BFloat16","int","",""])";
  for (const std::string_view dims :
       {"[[64,8],[4,8,16],[4],[],[]]", "[[8,64],[64,16],[4],[],[]]", "[[4,8,16],[16,64],[4],[],[]]"}) {
    EXPECT_EQ(cost_of("aten::_grouped_mm", dims, cut).no_flops, NoCost::Varying) << dims;
  }
  // Three dimensions each: a batch of 4, 2·4·8·16·32.
  const OpCost equal =
      cost_of("aten::_grouped_mm", "[[4,8,32],[4,32,16],[],[],[]]", R"(["c10::BFloat16","c10::BFloat16","","",""])");
  EXPECT_EQ(equal.flops, 32768u);
  EXPECT_EQ(equal.bytes, (4u * 8 * 32 + 4 * 32 * 16 + 4 * 8 * 16) * 2);
  // The result is bfloat16 unless another type is given; scales are one float per row.
  const OpCost scaled = cost_of("aten::_scaled_grouped_mm", "[[4,8,32],[4,32,16],[4,8],[4,16],[],[],[],[],[]]",
                                R"(["c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float","","","","","Scalar"])");
  EXPECT_EQ(scaled.flops, 32768u);
  EXPECT_EQ(scaled.bytes, 4u * 8 * 32 + 4 * 32 * 16 + (32 + 64) * 4 + 4 * 8 * 16 * 2);
}

TEST(OpCostBytes, GroupNormWritesAMeanAndADeviationOfEachGroup) {
  // [2, 6, 5] in 3 groups: 60 in and out, weight and bias of 6, 2·2·3 statistics.
  const std::string_view dims = "[[2,6,5],[6],[6],[],[],[],[],[]]", concrete = R"(["","","","2","6","5","3","1e-05"])";
  expect_bytes(
      cost_of("aten::native_group_norm", dims,
              R"(["c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar","Scalar","Scalar"])", concrete),
      (60 + 60 + 12 + 12) * 2);
  // A weight of another type: the statistics have that type.
  expect_bytes(cost_of("aten::native_group_norm", dims,
                       R"(["c10::Half","float","float","Scalar","Scalar","Scalar","Scalar","Scalar"])", concrete),
               (60 + 60) * 2 + (12 + 12) * 4);
  expect_none(cost_of("aten::native_group_norm", dims,
                      R"(["c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar","Scalar","Scalar"])"),
              NoCost::NoArguments);
}

TEST(OpCostBytes, NormsBackwardWriteTheGradientsThatAreAskedFor) {
  const std::string_view dims = "[[2,6,5],[2,6,5],[2,3],[2,3],[6],[],[],[],[],[]]";
  const std::string_view types = R"(["float","float","float","float","float","Scalar","Scalar","Scalar","Scalar",""])";
  const auto group = [&](std::string_view mask) {
    return cost_of("aten::native_group_norm_backward", dims, types,
                   R"(["","","","","","2","6","5","3",")" + std::string(mask) + R"("])");
  };
  // Gradient, input, mean, 1/deviation and weight are read.
  expect_bytes(group("[True, True, True]"), (60 + 60 + 6 + 6 + 6 + 60 + 6 + 6) * 4);
  expect_bytes(group("[False, True, False]"), (60 + 60 + 6 + 6 + 6 + 6) * 4);
  expect_none(group(""), NoCost::NoArguments);

  // Batch norm reads only one of the two: the running statistics (3, 4) or those of the batch (5, 6).
  const std::string_view batch_dims = "[[2,6,5],[2,6,5],[6],[6],[6],[6],[6],[],[],[]]";
  const std::string_view batch_types =
      R"(["float","float","float","float","float","float","float","Scalar","Scalar",""])";
  const auto batch = [&](std::string_view training) {
    return cost_of("aten::native_batch_norm_backward", batch_dims, batch_types,
                   R"(["","","","","","","",")" + std::string(training) + R"(","1e-05","[True, True, True]"])");
  };
  expect_bytes(batch("True"), (60 + 60 + 6 + 12 + 60 + 6 + 6) * 4);
  expect_bytes(batch("False"), (60 + 60 + 6 + 12 + 60 + 6 + 6) * 4);
  expect_none(batch(""), NoCost::NoArguments);
}

TEST(OpCostBytes, RootMeanSquareNormsKeepOneNumberOfEachRow) {
  const std::string_view dims = "[[2,3,4],[],[4],[]]", concrete = R"(["","[4]","","1e-05"])";
  const std::string_view types = R"(["c10::BFloat16","ScalarList","c10::BFloat16","Scalar"])";
  expect_bytes(cost_of("aten::_fused_rms_norm", dims, types, concrete), (24 + 24 + 4) * 2 + 6 * 4);
  expect_bytes(cost_of("aten::rms_norm", dims, types, concrete), (24 + 24 + 4) * 2);
  expect_none(cost_of("aten::rms_norm", dims, types), NoCost::NoArguments);
  expect_bytes(cost_of("aten::_fused_rms_norm_backward", "[[2,3,4],[2,3,4],[],[2,3,1],[4],[]]",
                       R"(["float","float","ScalarList","float","float",""])", R"(["","","[4]","","","[True, True]"])"),
               (24 + 24 + 6 + 4 + 24 + 4) * 4);
}

TEST(OpCostBytes, ListsOfTensorsCountWhereAnElementTypeIsAssumed) {
  const std::string_view types = R"(["TensorList","Scalar"])", dims = "[[[4,1,8],[4,6,8]],[]]";
  expect_none(cost_of("aten::cat", dims, types, R"(["","1"])"), NoCost::NoType);
  const OpCost cat = cost_of("aten::cat", dims, types, R"(["","1"])", DataType::Bf16);
  expect_bytes(cat, 2 * (32 + 192) * 2);
  EXPECT_TRUE(cat.assumed);
  expect_none(cost_of("aten::cat", "[[],[]]", types, R"(["","1"])", DataType::Bf16), NoCost::NoShapes);
  expect_none(cost_of("aten::cat", "[[[4,\"s0\"],[4,6]],[]]", types, "", DataType::Bf16), NoCost::NoShapes);
}

TEST(OpCostBytes, ElementwiseOperatorsOnListsReadAllAndWriteTheFirst) {
  const auto bytes = [](std::string_view op, std::string_view dims, std::string_view types) {
    EXPECT_EQ(cost_of(op, dims, types).no_bytes, NoCost::NoType) << op;
    return cost_of(op, dims, types, "", DataType::Fp32).bytes;
  };
  // 16 + 4 elements per list.
  const std::string_view two = R"(["TensorList","TensorList","Scalar"])", lists = "[[[4,4],[4]],[[4,4],[4]],[]]";
  EXPECT_EQ(bytes("aten::_foreach_add_", lists, two), 3u * 20 * 4);
  EXPECT_EQ(bytes("aten::_foreach_mul", "[[[4,4],[4]],[]]", R"(["TensorList","Scalar"])"), 2u * 20 * 4);
  EXPECT_EQ(bytes("aten::_foreach_addcdiv_", "[[[4,4],[4]],[[4,4],[4]],[[4,4],[4]],[]]",
                  R"(["TensorList","TensorList","TensorList","ScalarList"])"),
            4u * 20 * 4);
  EXPECT_EQ(bytes("aten::_foreach_sqrt", "[[[4,4],[4]]]", R"(["TensorList"])"), 2u * 20 * 4);
  EXPECT_EQ(bytes("aten::_foreach_copy_", lists, two), 2u * 20 * 4);
  EXPECT_EQ(bytes("aten::_foreach_zero_", "[[[4,4],[4]]]", R"(["TensorList"])"), 20u * 4);
  EXPECT_EQ(bytes("aten::_foreach_norm", "[[[4,4],[4]],[]]", R"(["TensorList","Scalar"])"), (20u + 2) * 4);
  EXPECT_FALSE(cost_of("aten::_foreach_some_new", lists, two).known);
}

TEST(OpCostBytes, OptimizersReadGradientsAndReadAndWriteAllElse) {
  // 20 elements per list; the steps are two floats.
  const std::string list = "[[4,4],[4]]", scalars = ",[],[],[],[],[],[],[]";
  const std::string six = "[" + list + "," + list + "," + list + "," + list;
  const std::string of_scalars = R"(,"Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar")";
  const std::string lists = R"(["TensorList","TensorList","TensorList","TensorList","TensorList","TensorList")";
  const auto adam = [&](std::string_view largest, std::string_view scale, std::string_view scale_type) {
    const std::string dims =
        six + "," + std::string(largest) + ",[[],[]]" + scalars + "," + std::string(scale) + ",[]]";
    const std::string types = lists + of_scalars + "," + std::string(scale_type) + R"(,""])";
    expect_none(cost_of("aten::_fused_adamw_", dims, types), NoCost::NoType);
    return cost_of("aten::_fused_adamw_", dims, types, "", DataType::Fp32);
  };
  // Parameters and two moments are read and written, gradients are read.
  expect_bytes(adam("[]", "[]", R"("")"), 7 * 20 * 4 + 8);
  expect_bytes(adam(list, "[]", R"("")"), 9 * 20 * 4 + 8);        // amsgrad
  expect_bytes(adam("[]", "[1]", R"("float")"), 8 * 20 * 4 + 8);  // gradients are scaled and written
  const std::string sgd = "[" + list + "," + list + ",[]" + scalars + ",[],[]]";
  expect_bytes(cost_of("aten::_fused_sgd_", sgd,
                       R"(["TensorList","TensorList","TensorList")" + of_scalars + R"(,"",""])", "", DataType::Bf16),
               3 * 20 * 2);
}

TEST(OpCostBytes, PoolingReadsItsInputAndWritesItsPlaces) {
  const std::string_view largest = R"(["float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar"])";
  const auto max_pool = [&](std::string_view concrete) {
    return cost_of("aten::max_pool2d_with_indices", "[[2,3,7,7],[],[],[],[],[]]", largest, concrete);
  };
  // 2·3 planes of 49; windows of 3 every 2, padded by 1: (7 + 2 − 3) / 2 + 1 = 4 each way, a value and an int64
  // each.
  expect_bytes(max_pool(R"(["","[3, 3]","[2, 2]","[1, 1]","[1, 1]","False"])"), 6 * 49 * 4 + 6 * 16 * 12);
  // Without a stride, the stride is the window. 7 / 3 is 2, or 3 if the last window may be cut.
  expect_bytes(max_pool(R"(["","[3, 3]","[]","[0, 0]","[1, 1]","False"])"), 6 * 49 * 4 + 6 * 4 * 12);
  expect_bytes(max_pool(R"(["","[3, 3]","[]","[0, 0]","[1, 1]","True"])"), 6 * 49 * 4 + 6 * 9 * 12);
  // A last window that would start in the padding on the right does not count: (7 + 2 − 2 + 1) / 2 + 1 = 5, but the
  // fifth starts at 8.
  expect_bytes(max_pool(R"(["","[2, 2]","[2, 2]","[1, 1]","[1, 1]","True"])"), 6 * 49 * 4 + 6 * 16 * 12);
  expect_none(max_pool(""), NoCost::NoArguments);
  expect_none(max_pool(R"(["","[9, 9]","[]","[0, 0]","[1, 1]","False"])"), NoCost::Misfit);
  expect_none(max_pool(R"(["","[3, 3]","[0, 0]","[0, 0]","[1, 1]","False"])"), NoCost::Misfit);
  const std::string_view average = R"(["c10::Half","ScalarList","ScalarList","ScalarList","Scalar","Scalar",""])";
  expect_bytes(cost_of("aten::avg_pool2d", "[[2,3,8,8],[],[],[],[],[],[]]", average,
                       R"(["","[2, 2]","[2, 2]","[0, 0]","False","True",""])"),
               (6 * 64 + 6 * 16) * 2);
  expect_bytes(cost_of("aten::_adaptive_avg_pool2d", "[[2,3,8,8],[]]", R"(["float","ScalarList"])", R"(["","[2, 1]"])"),
               (6 * 64 + 6 * 2) * 4);
}

TEST(OpCostBytes, PoolingBackwardWritesAsMuchAsTheInput) {
  const std::string_view types =
      R"(["float","float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar","long int"])";
  expect_bytes(
      cost_of("aten::max_pool2d_with_indices_backward", "[[2,3,4,4],[2,3,7,7],[],[],[],[],[],[2,3,4,4]]", types),
      6 * 16 * 4 + 6 * 49 * 4 + 6 * 16 * 8);
  expect_bytes(cost_of("aten::_adaptive_avg_pool2d_backward", "[[2,3,1,1],[2,3,7,7]]", R"(["float","float"])"),
               6 * 4 + 6 * 49 * 4);
}

}  // namespace
}  // namespace prof::analyzer
