// FLOPs and bytes of operators: one case computed by hand for every formula, and no number if an input is missing or
// invalid. Attention is in op_cost_attention_test.cpp.
#include "analyzer/analysis/cost/op_cost.h"

#include "analyzer/analysis/cost/library_cost.h"
#include "tests/unit/analyzer/analysis/cost/op_cost_text.h"

namespace prof::analyzer {
namespace {

using namespace tests;

TEST(OpCost, MmIsTwoMnk) {
  // 2·2·5·3 = 60; (6 + 15 + 10) elements of 4 bytes.
  expect(cost("aten::mm", "[[2,3],[3,5]]", types_of(kFloat, 2)), 60, 60, 124);
  EXPECT_EQ(cost("aten::mm", "[[2,3],[3,5]]", types_of(kBf16, 2)).bytes, 62u);
}

TEST(OpCost, AddmmReadsItsBiasUnlessBetaIsZero) {
  expect(cost("aten::addmm", "[[5],[2,3],[3,5],[],[]]", types_of(kFloat, 3, 2), R"(["","","","1","1"])"), 60, 60, 144);
  expect(cost("aten::addmm", "[[5],[2,3],[3,5],[],[]]", types_of(kFloat, 3, 2), R"(["","","","0","1"])"), 60, 60, 124);
}

TEST(OpCost, BmmCountsEachOfTheBatch) {
  expect(cost("aten::bmm", "[[4,2,3],[4,3,5]]", types_of(kFloat, 2)), 240, 240, 4 * 124);
  expect(cost("aten::baddbmm", "[[4,2,5],[4,2,3],[4,3,5],[],[]]", types_of(kFloat, 3, 2), R"(["","","","1","1"])"), 240,
         240, 4 * 124 + 4 * 10 * 4);
}

TEST(OpCost, LinearMultipliesAllRows) {
  // [2, 7, 3] · [5, 3]ᵀ: 2·14·5·3.
  expect(cost("aten::linear", "[[2,7,3],[5,3],[5]]", types_of(kFloat, 3)), 420, 420, (42 + 15 + 70 + 5) * 4);
}

// Factors, two scales, a bias, the scale of the result, the type of the result and an option.
constexpr std::string_view kFp8Factors =
    R"(["c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float","","","Scalar","Scalar"])";

TEST(OpCost, AScaledProductWritesItsResultInTheTypeItIsAskedFor) {
  const std::string types(kFp8Factors);
  const std::string_view dims = "[[16,32],[32,16],[16,1],[1,16],[],[],[],[]]";
  // 2·16·16·32; 512 + 512 elements of 1 byte, 32 scales of 4, 256 results of 2 (bfloat16 is 15, float 6).
  expect(cost("aten::_scaled_mm", dims, types, R"(["","","","","","","15","True"])"), 16384, 16384, 1024 + 128 + 512);
  expect(cost("aten::_scaled_mm", dims, types, R"(["","","","","","","6","True"])"), 16384, 16384, 1024 + 128 + 1024);
  // None: the type of the first factor.
  const std::string none = R"(["c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float","","","","Scalar"])";
  EXPECT_EQ(cost("aten::_scaled_mm", dims, none, R"(["","","","","","","","True"])").bytes, 1024u + 128 + 256);
}

TEST(OpCost, AScaledProductWhoseResultIsOfUnknownTypeHasNoBytes) {
  const std::string types(kFp8Factors);
  const std::string_view dims = "[[16,32],[32,16],[16,1],[1,16],[],[],[],[]]";
  for (const std::string_view concrete :
       {R"(["","","","","","","","True"])", R"(["","","","","","","99","True"])", ""}) {
    const OpCost fp8 = cost("aten::_scaled_mm", dims, types, concrete);
    EXPECT_EQ(fp8.flops, 16384u);
    EXPECT_EQ(fp8.type, DataType::Fp8);
    EXPECT_FALSE(fp8.bytes);
    EXPECT_EQ(fp8.no_bytes, NoCost::NoArguments);
  }
  EXPECT_EQ(op_cost("aten::_scaled_mm", OpInputs(dims, "", "")).no_bytes, NoCost::NoType);
}

TEST(OpCost, AnElementOfFp4IsAPairOfValues) {
  // [128, 64] pairs · [64, 256] pairs: k is 128. Scales take one byte per 16 values.
  const std::string types =
      R"(["c10::Float4_e2m1fn_x2","c10::Float4_e2m1fn_x2","c10::Float8_e4m3fn","c10::Float8_e4m3fn","","","Scalar","Scalar"])";
  const std::string_view concrete = R"(["","","","","","","15","False"])";
  const OpCost fp4 = cost("aten::_scaled_mm", "[[128,64],[64,256],[1024],[2048],[],[],[],[]]", types, concrete);
  expect(fp4, 2 * 128 * 256 * 128, 2 * 128 * 256 * 128, 128 * 64 + 64 * 256 + 1024 + 2048 + 128 * 256 * 2);
  EXPECT_EQ(fp4.type, DataType::Fp4);
  const OpCost mixed =
      cost("aten::_scaled_mm", "[[128,64],[64,256],[],[],[],[],[],[]]",
           R"(["c10::Float4_e2m1fn_x2","c10::Float8_e4m3fn","float","float","","","Scalar","Scalar"])", concrete);
  EXPECT_FALSE(mixed.flops);
  EXPECT_EQ(mixed.no_flops, NoCost::Misfit);
}

TEST(OpCost, AProductOfIntegersWritesWiderOnes) {
  expect(cost("aten::_int_mm", "[[2,3],[3,5]]", R"(["signed char","signed char"])"), 60, 60, 6 + 15 + 10 * 4);
}

TEST(OpCost, ConvolutionsCountPaddingDilationAndStride) {
  // The first layer of ResNet: (224 + 2·3 − 6 − 1) / 2 + 1 = 112 positions in each direction:
  // 2·1·112²·64·3·49.
  const std::string types = types_of(kFloat, 2, 7);
  const OpCost first = cost("aten::convolution", "[[1,3,224,224],[64,3,7,7],[],[],[],[],[],[],[]]", types,
                            R"(["","","","[2, 2]","[3, 3]","[1, 1]","False","[0, 0]","1"])");
  expect(first, 236027904, 236027904, (3u * 224 * 224 + 64 * 3 * 49 + 64 * 112 * 112) * 4);
  // Without padding: 109 positions.
  EXPECT_EQ(cost("aten::convolution", "[[1,3,224,224],[64,3,7,7],[],[],[],[],[],[],[]]", types,
                 R"(["","","","[2, 2]","[0, 0]","[1, 1]","False","[0, 0]","1"])")
                .flops,
            223552896u);
  // Dilation 2: the kernel spans 13: (224 + 6 − 13) / 2 + 1 = 109.
  EXPECT_EQ(cost("aten::convolution", "[[1,3,224,224],[64,3,7,7],[],[],[],[],[],[],[]]", types,
                 R"(["","","","[2, 2]","[3, 3]","[2, 2]","False","[0, 0]","1"])")
                .flops,
            223552896u);
}

TEST(OpCost, AMultiplyAddOfComplexNumbersIsEight) {
  const std::string types = R"(["c10::complex<float>","c10::complex<float>"])";
  // 8·2·5·3 FLOPs, 31 elements of 8 bytes.
  expect(cost("aten::mm", "[[2,3],[3,5]]", types), 240, 240, 248);
  expect(cost("aten::bmm", "[[4,2,3],[4,3,5]]", R"(["c10::complex<double>","c10::complex<double>"])"), 960, 960,
         4 * 496);
  EXPECT_EQ(cost("aten::mm", "[[2,3],[3,5]]", R"(["c10::complex<c10::Half>","c10::complex<c10::Half>"])").flops, 240u);
  EXPECT_EQ(cost("aten::mm", "[[99999999999,3],[3,50000000]]", types).no_flops, NoCost::Misfit);
  // The library's call for the same product gives the same FLOPs.
  EXPECT_EQ(library_cost("cublasCgemm_v2(transa=N, transb=N, m=5, n=2, k=3, A=complex64, B=complex64, C=complex64)")
                ->cost.flops,
            240u);
}

TEST(OpCost, GroupsDivideAConvolution) {
  // Depthwise: 8 groups of one channel: 2·1·4·4·8·1·9.
  expect(cost("aten::convolution", "[[1,8,4,4],[8,1,3,3],[8],[],[],[],[],[],[]]", types_of(kFloat, 3, 6),
              R"(["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","8"])"),
         2304, 2304, (128 + 72 + 128 + 8) * 4);
}

TEST(OpCost, TransposedConvolutionsCountThePlacesOfTheInput) {
  // [1,4,5,5] · [4,6,3,3]: 2·25·(4·6·9); the output is (5 − 1)·2 − 2 + 2 + 1 + 1 = 10 in each direction.
  expect(cost("aten::convolution", "[[1,4,5,5],[4,6,3,3],[],[],[],[],[],[],[]]", types_of(kFloat, 2, 7),
              R"(["","","","[2, 2]","[1, 1]","[1, 1]","True","[1, 1]","1"])"),
         10800, 10800, (100 + 216 + 600) * 4);
}

TEST(OpCost, CudnnConvolutionsHaveTheirArgumentsInAnotherOrder) {
  // padding 1, stride 2: (8 + 2 − 3) / 2 + 1 = 4.
  expect(cost("aten::cudnn_convolution", "[[2,3,8,8],[5,3,3,3],[],[],[],[],[],[],[]]", types_of(kFloat, 2, 7),
              R"(["","","[1, 1]","[2, 2]","[1, 1]","1","False","False","True"])"),
         2 * 2 * 16 * 5 * 27, 2 * 2 * 16 * 5 * 27, (384 + 135 + 160) * 4);
}

TEST(OpCost, BothGradientsOfAConvolutionHaveTheForwardsFlops) {
  const std::string types = types_of(kFloat, 3, 8);
  const std::string_view dims = "[[2,5,4,4],[2,3,8,8],[5,3,3,3],[],[],[],[],[],[],[],[]]";
  const OpCost both = cost("aten::convolution_backward", dims, types,
                           R"(["","","","[0]","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","1","[True, True, False]"])");
  EXPECT_EQ(both.input_gradient, 8640u);
  EXPECT_EQ(both.weight_gradient, 8640u);
  expect(both, 17280, 17280, (160 + 2 * (135 + 384)) * 4);
  const OpCost weight =
      cost("aten::convolution_backward", dims, types,
           R"(["","","","[0]","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","1","[False, True, False]"])");
  EXPECT_EQ(weight.input_gradient, 0u);
  expect(weight, 8640, 8640, (160 + 135 + 384) * 4);
  // Transposed: the positions are those of the input.
  EXPECT_EQ(cost("aten::convolution_backward", "[[1,6,10,10],[1,4,5,5],[4,6,3,3],[],[],[],[],[],[],[],[]]", types,
                 R"(["","","","[0]","[2, 2]","[1, 1]","[1, 1]","True","[1, 1]","1","[True, False, False]"])")
                .flops,
            10800u);
}

TEST(OpCost, ElementwiseReadsEachOperandAndWritesTheResult) {
  const auto bytes = [](std::string_view op, std::string_view dims, const std::string& types,
                        std::string_view concrete = "") { return cost(op, dims, types, concrete).bytes; };
  EXPECT_EQ(bytes("aten::add", "[[2,3],[2,3],[]]", types_of(kFloat, 2, 1)), 72u);
  EXPECT_EQ(bytes("aten::add_", "[[4,8,2],[1,8,1],[]]", types_of(kBf16, 2, 1)), (64u + 8 + 64) * 2);
  EXPECT_EQ(bytes("aten::add", "[[4,1],[5],[]]", types_of(kFloat, 2, 1)), (4u + 5 + 20) * 4);
  // bfloat16 and float: the result is float; half and bfloat16 likewise.
  EXPECT_EQ(bytes("aten::mul", "[[10],[10]]", R"(["c10::BFloat16","float"])"), 10u * (2 + 4 + 4));
  EXPECT_EQ(bytes("aten::mul", "[[10],[10]]", R"(["c10::BFloat16","c10::Half"])"), 10u * (2 + 2 + 4));
  // A double without dimensions (a scalar) does not make the result double.
  EXPECT_EQ(bytes("aten::mul", "[[10],[]]", R"(["float","double"])"), 10u * 8 + 8);
  // "out=": a tensor after the operands is written, in its own type, and not read.
  EXPECT_EQ(bytes("aten::mul", "[[10],[],[10]]", R"(["float","double","float"])"), 10u * 8 + 8);
  EXPECT_EQ(bytes("aten::mul", "[[10],[10],[10]]", R"(["float","float","double"])"), 10u * (4 + 4 + 8));
  EXPECT_EQ(bytes("aten::add", "[[10],[10],[],[10]]", R"(["float","float","Scalar","float"])"), 10u * 12);
  EXPECT_EQ(bytes("aten::neg", "[[10],[10]]", R"(["float","float"])"), 10u * 8);
  EXPECT_EQ(bytes("aten::gt", "[[10],[10],[10]]", R"(["float","float","bool"])"), 10u * 9);
  EXPECT_EQ(bytes("aten::eq", "[[10],[10]]", types_of(kFloat, 2)), 10u * 9);
  EXPECT_EQ(bytes("aten::where", "[[10],[10],[10]]", R"(["bool","float","float"])"), 10u * 13);
  EXPECT_EQ(bytes("aten::copy_", "[[10],[10],[]]", R"(["float","c10::BFloat16","Scalar"])"), 60u);
  EXPECT_EQ(bytes("aten::fill_", "[[10],[]]", R"(["float","Scalar"])"), 40u);
  const OpCost add = cost("aten::add", "[[2,3],[2,3],[]]", types_of(kFloat, 2, 1));
  EXPECT_FALSE(add.flops);
  EXPECT_EQ(add.no_flops, NoCost::NotCounted);
}

TEST(OpCost, NormsSoftmaxEmbeddingAndSums) {
  const auto bytes = [](std::string_view op, std::string_view dims, const std::string& types,
                        std::string_view concrete = "") { return cost(op, dims, types, concrete).bytes; };
  // Input and output 24 each, weight and bias 4 each, and two floats for each of 6 rows.
  EXPECT_EQ(bytes("aten::native_layer_norm", "[[2,3,4],[],[4],[4],[]]",
                  R"(["c10::Half","ScalarList","c10::Half","c10::Half","Scalar"])", R"(["","[4]","","","1e-05"])"),
            (24u + 24 + 4 + 4) * 2 + 6 * 8);
  EXPECT_EQ(bytes("aten::_softmax", "[[4,8],[],[]]", types_of(kFloat, 1, 2)), 256u);
  EXPECT_EQ(bytes("aten::_log_softmax_backward_data", "[[4,8],[4,8],[],[]]", types_of(kFloat, 2, 2)), 384u);
  // 6 indices of 8 bytes; 6 rows of 16 are read and written.
  EXPECT_EQ(bytes("aten::embedding", "[[100,16],[2,3],[],[],[]]", R"(["float","long int","Scalar","Scalar","Scalar"])"),
            48u + 2 * 6 * 16 * 4);
  EXPECT_EQ(bytes("aten::embedding_dense_backward", "[[2,3,16],[2,3],[],[],[]]",
                  R"(["float","long int","Scalar","Scalar","Scalar"])", R"(["","","100","-1","False"])"),
            6u * 16 * 4 + 48 + 100 * 16 * 4);
  EXPECT_EQ(bytes("aten::sum", "[[8,5],[],[],[]]", types_of(kFloat, 1, 3), R"(["","[0]","True",""])"), (40u + 5) * 4);
  EXPECT_EQ(bytes("aten::mean", "[[8,5,2],[],[],[]]", types_of(kFloat, 1, 3), R"(["","[-1, -2]","True",""])"),
            (80u + 8) * 4);
  EXPECT_EQ(bytes("aten::sum", "[[8,5],[]]", R"(["float",""])", R"(["",""])"), 41u * 4);
  EXPECT_EQ(bytes("aten::native_dropout", "[[10],[],[]]", types_of(kFloat, 1, 2)), 90u);
}

TEST(OpCost, OddInputHasNoNumberAndAReason) {
  const std::string types = types_of(kFloat, 2);
  const auto reason = [&](std::string_view op, std::string_view dims, std::string_view concrete = "") {
    const OpCost none = cost(op, dims, types, concrete);
    EXPECT_FALSE(none.flops) << op << dims;
    EXPECT_FALSE(none.bytes) << op << dims;
    return none.no_flops;
  };
  EXPECT_EQ(reason("aten::mm", "[[2,3],[4,5]]"), NoCost::Misfit);
  EXPECT_EQ(reason("aten::mm", "[[2,3]]"), NoCost::NoShapes);
  EXPECT_EQ(reason("aten::mm", "[]"), NoCost::NoShapes);
  EXPECT_EQ(reason("aten::mm", "no json"), NoCost::NoShapes);
  EXPECT_EQ(reason("aten::mm", "[[\"s0\",3],[3,5]]"), NoCost::NoShapes);
  EXPECT_EQ(reason("aten::mm", "[[-2,3],[3,5]]"), NoCost::NoShapes);
  EXPECT_EQ(reason("aten::mm", "[[2,3,4],[3,5]]"), NoCost::Misfit);
  EXPECT_EQ(reason("aten::mm", "[[99999999999,99999999999],[99999999999,99999999999]]"), NoCost::Misfit);
  EXPECT_EQ(reason("aten::convolution", "[[1,3,8,8],[4,3,3,3]]"), NoCost::NoArguments);
  EXPECT_EQ(reason("aten::convolution", "[[1,3,2,2],[4,3,3,3]]",
                   R"(["","","","[1, 1]","[0, 0]","[1, 1]","False","[0, 0]","1"])"),
            NoCost::Misfit);
  EXPECT_EQ(reason("aten::convolution", "[[1,3,8,8],[4,3,3,3]]",
                   R"(["","","","[0, 0]","[0, 0]","[1, 1]","False","[0, 0]","1"])"),
            NoCost::Misfit);
  EXPECT_EQ(reason("aten::convolution", "[[1,3,8,8],[4,3,3,3]]",
                   R"(["","","","[1, 1]","[0, 0]","[1, 1]","False","[0, 0]","0"])"),
            NoCost::Misfit);
  EXPECT_EQ(reason("aten::_scaled_dot_product_flash_attention", "[[1,2,3,4],[1,2,3,4]]"), NoCost::NoShapes);
  EXPECT_FALSE(cost("aten::some_new_op", "[[2,3]]", types).known);
  EXPECT_FALSE(cost("mine::mm", "[[2,3],[3,5]]", types).known);
}

// 2⁶³ for each gradient: the sum overflows, so neither has a number.
TEST(OpCost, GradientsThatDoNotFitTogetherHaveNoNumberEach) {
  const OpCost backward =
      cost("aten::convolution_backward", "[[1,1,1],[1,4194304,1],[1,4194304,1099511627776]]", types_of(kFloat, 3),
           R"(["","","","","[1]","[0]","[1]","False","[0]","1","[True, True, False]"])");
  EXPECT_EQ(backward.flops, std::nullopt);
  EXPECT_EQ(backward.useful_flops, std::nullopt);
  EXPECT_EQ(backward.no_flops, NoCost::Misfit);
  EXPECT_EQ(backward.input_gradient, 0u);
  EXPECT_EQ(backward.weight_gradient, 0u);
}

TEST(OpCost, NothingToDoIsZeroAndNotUnknown) {
  expect(cost("aten::mm", "[[0,3],[3,5]]", types_of(kFloat, 2)), 0, 0, 60);
}

TEST(OpCost, WithoutTypesThereAreFlopsButNoBytesUnlessOneIsAssumed) {
  const OpCost unknown = op_cost("aten::mm", OpInputs("[[2, 3], [3, 5]]", "", ""));
  EXPECT_EQ(unknown.flops, 60u);
  EXPECT_EQ(unknown.no_bytes, NoCost::NoType);
  EXPECT_EQ(unknown.type, DataType::Unknown);
  const OpCost assumed = op_cost("mm", OpInputs("[[2, 3], [3, 5]]", "", "", DataType::Fp16));
  EXPECT_EQ(assumed.bytes, 62u);
  EXPECT_EQ(assumed.type, DataType::Fp16);
}

}  // namespace
}  // namespace prof::analyzer
