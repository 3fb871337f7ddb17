// To which kernel the FLOPs of an operator belong. They count once, for its main kernel, whatever else it launched.
// Rates are sums divided by sums.
#include "analyzer/analysis/cost/kernel_costs.h"

#include "analyzer/analysis/cost/peak_rates.h"
#include "tests/unit/analyzer/analysis/cost/operator_trace.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>

namespace prof::analyzer {
namespace {

using namespace tests;

TEST(KernelCost, TheMainKernelHasTheFlopsAndItsHelpersNone) {
  const auto trace = TraceText()
                         .op("aten::mm", 0, 50, kMm)
                         .kernel("sm80_xmma_gemm_f32f32_tf32f32", 1, 100, 110)
                         .kernel("void cublasLt::splitKreduce_kernel<32>()", 5, 110, 160)
                         .import();
  const auto costs = costs_by_name(*trace);
  const KernelCost& main = costs.at("sm80_xmma_gemm_f32f32_tf32f32");
  EXPECT_EQ(main.flops, kMmFlops);
  EXPECT_EQ(main.bytes, kMmBytes);
  EXPECT_EQ(main.peak, PeakType::Tf32);
  EXPECT_EQ(main.flops_source, CostSource::Shapes);
  const KernelCost& helper = costs.at("void cublasLt::splitKreduce_kernel<32>()");
  EXPECT_FALSE(helper.flops);
  EXPECT_FALSE(helper.bytes);
  EXPECT_EQ(helper.no_flops, NoCost::Helper);
}

TEST(KernelCost, WhereNoOperatorHasShapesThatIsTheReasonAndARemedyIsSaid) {
  const auto bare = TraceText().op("aten::mm", 0, 50).kernel("gemm", 1, 100, 110).import();
  const Views views(*bare);
  const KernelCosts costs(*bare, views);
  EXPECT_EQ(costs.of(0).no_flops, NoCost::NoShapes);
  EXPECT_NE(costs.remedy().find("record_shapes=True"), std::string_view::npos);

  const auto shaped = TraceText().op("aten::mm", 0, 50, kMm).kernel("gemm", 1, 100, 110).kernel("own", 60, 120, 130);
  const auto trace = shaped.import();
  const Views views_of_shaped(*trace);
  EXPECT_EQ(KernelCosts(*trace, views_of_shaped).remedy(), "");

  const auto unknown = TraceText().op("my::op", 0, 50, kMm).kernel("own", 1, 100, 110).import();
  const Views views_of_unknown(*unknown);
  const KernelCosts none(*unknown, views_of_unknown);
  EXPECT_EQ(none.of(0).no_flops, NoCost::NoFormula);
  EXPECT_NE(none.remedy().find("a formula is known"), std::string_view::npos);
}

TEST(KernelCost, AnOperatorAroundACountedOneHasNothingOfItsOwn) {
  const auto trace =
      TraceText()
          .op("aten::linear", 0, 50, R"(,"Input Dims":[[64,32],[16,32],[16]],"Input type":["float","float","float"])")
          .op("aten::mm", 10, 40, kMm)
          .kernel("gemm", 11, 100, 110)
          .kernel("fill", 45, 120, 130)
          .import();
  const auto costs = costs_by_name(*trace);
  EXPECT_EQ(costs.at("gemm").flops, kMmFlops);
  EXPECT_FALSE(costs.at("fill").flops);
  EXPECT_EQ(costs.at("fill").no_flops, NoCost::CountedInside);
}

TEST(KernelCost, LaunchesOfOneKernelShareByTimeAndAddUp) {
  const auto trace =
      TraceText().op("aten::mm", 0, 50, kMm).kernel("gemm", 1, 100, 110).kernel("gemm", 5, 110, 140).import();
  const Views views(*trace);
  const KernelCosts costs(*trace, views);
  ASSERT_EQ(trace->operations.size(), 2u);
  EXPECT_EQ(costs.of(0).flops, kMmFlops / 4);
  EXPECT_EQ(*costs.of(0).flops + *costs.of(1).flops, kMmFlops);
  EXPECT_EQ(*costs.of(0).bytes + *costs.of(1).bytes, kMmBytes);
}

TEST(KernelCost, GradientsOfAConvolutionGoToTheirOwnKernels) {
  constexpr std::string_view kBackward =
      R"(,"Input Dims":[[2,5,4,4],[2,3,8,8],[5,3,3,3],[],[],[],[],[],[],[],[]],"Input type":["float","float","float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar","ScalarList"],"Concrete Inputs":["","","","[0]","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","1","[True, True, False]"])";
  const auto trace = TraceText()
                         .op("aten::convolution_backward", 0, 90, kBackward)
                         .kernel("nchwToNhwcKernel", 1, 100, 190)
                         .kernel("sm90_xmma_dgrad_implicit_gemm", 5, 200, 210)
                         .kernel("sm80_xmma_gemm", 9, 210, 215)
                         .kernel("winogradWgradData4x4", 12, 215, 235)
                         .import();
  const auto costs = costs_by_name(*trace);
  EXPECT_EQ(costs.at("sm90_xmma_dgrad_implicit_gemm").flops, 8640u);
  EXPECT_EQ(costs.at("sm80_xmma_gemm").flops, 8640u);
  EXPECT_FALSE(costs.at("nchwToNhwcKernel").flops);
  EXPECT_FALSE(costs.at("winogradWgradData4x4").flops);
}

TEST(KernelCost, TorchCompilesNumbersAreTakenWhereShapesSayNothing) {
  const auto trace = TraceText()
                         .op("triton_poi_fused_add_0", 0, 20, R"(,"kernel_flop":0,"kernel_num_gb":0.002)")
                         .kernel("triton_poi_fused_add_0", 1, 100, 110)
                         .op("extern_kernels.mm", 30, 50, R"(,"kernel_flop":4000,"kernel_num_gb":0.001)")
                         .kernel("gemm", 31, 120, 130)
                         .import();
  const auto costs = costs_by_name(*trace);
  EXPECT_EQ(costs.at("triton_poi_fused_add_0").bytes, 2'000'000u);
  EXPECT_FALSE(costs.at("triton_poi_fused_add_0").flops);
  EXPECT_EQ(costs.at("triton_poi_fused_add_0").no_flops, NoCost::NotCounted);
  EXPECT_EQ(costs.at("triton_poi_fused_add_0").bytes_source, CostSource::Inductor);
  EXPECT_EQ(costs.at("gemm").flops, 4000u);
  EXPECT_FALSE(costs.at("gemm").peak);  // the trace does not contain the type
  EXPECT_EQ(costs_by_name(*trace, DataType::Bf16).at("gemm").peak, PeakType::Bf16);
  EXPECT_TRUE(costs_by_name(*trace, DataType::Bf16).at("gemm").assumed);
}

TEST(KernelCost, AProductOfFp4IsComparedWithThePeakOfFp4) {
  constexpr std::string_view kScaled =
      R"(,"Input Dims":[[128,64],[64,256],[1024],[2048],[],[],[],[]],"Input type":["c10::Float4_e2m1fn_x2","c10::Float4_e2m1fn_x2","c10::Float8_e4m3fn","c10::Float8_e4m3fn","","","Scalar","Scalar"],"Concrete Inputs":["","","","","","","15","False"])";
  const auto trace = TraceText()
                         .op("aten::_scaled_mm", 0, 50, kScaled)
                         .kernel("nvjet_qqtst_128x128", 1, 100, 110)
                         .import("NVIDIA B200");
  const KernelCost cost = costs_by_name(*trace).at("nvjet_qqtst_128x128");
  EXPECT_EQ(cost.flops, 2u * 128 * 256 * 128);
  EXPECT_EQ(cost.peak, PeakType::Fp4);
  EXPECT_EQ(cost.type, DataType::Fp4);
}

TEST(KernelCost, AnEinsumIsTheProductItWasReducedTo) {
  const auto trace =
      TraceText()
          .op("aten::einsum", 0, 60,
              R"(,"Input Dims":[[],[[4,2,3],[4,3,5]],[]],"Input type":["","TensorList",""],"Concrete Inputs":["bij,bjk->bik","",""])")
          .op("aten::bmm", 10, 40, R"(,"Input Dims":[[4,2,3],[4,3,5]],"Input type":["float","float"])")
          .kernel("gemm", 11, 100, 110)
          .import();
  const KernelCost cost = costs_by_name(*trace).at("gemm");
  EXPECT_EQ(cost.flops, 2u * 4 * 2 * 3 * 5);
  EXPECT_EQ(cost.flops_source, CostSource::Shapes);
}

TEST(KernelCost, AComplexProductIsComparedWithThePeakOfItsParts) {
  const auto peak = [](std::string_view type) {
    const auto trace =
        TraceText()
            .op("aten::mm", 0, 50, fmt::format(R"(,"Input Dims":[[64,32],[32,16]],"Input type":["{0}","{0}"])", type))
            .kernel("gemm", 1, 100, 110)
            .import();
    return costs_by_name(*trace).at("gemm").peak;
  };
  EXPECT_EQ(peak("c10::complex<float>"), PeakType::Fp32);
  EXPECT_EQ(peak("c10::complex<double>"), PeakType::Fp64Matrix);
  EXPECT_EQ(peak("c10::complex<c10::Half>"), std::nullopt);
}

TEST(KernelCost, AProductWithAVectorIsComparedWithTheVectorUnits) {
  const auto trace = TraceText()
                         .op("aten::mv", 0, 20, R"(,"Input Dims":[[3,5],[5]],"Input type":["float","float"])")
                         .kernel("gemv2T_kernel_val_tf32", 1, 100, 110)
                         .op("aten::mv", 30, 50, R"(,"Input Dims":[[3,5],[5]],"Input type":["c10::Half","c10::Half"])")
                         .kernel("gemv_half", 31, 120, 130)
                         .import();
  const auto costs = costs_by_name(*trace);
  EXPECT_EQ(costs.at("gemv2T_kernel_val_tf32").peak, PeakType::Fp32);
  EXPECT_EQ(costs.at("gemv_half").flops, 30u);
  EXPECT_EQ(costs.at("gemv_half").peak, std::nullopt);
}

TEST(KernelCost, NumbersOfAKernelsOwnEventCountWhereNothingElseHasThem) {
  constexpr std::string_view kOwnCosts = R"(,"kernel_flop":5000.0,"kernel_num_gb":2e-6)";
  const auto trace = TraceText()
                         .op("aten::mm", 0, 50, kMm)
                         .kernel("gemm", 1, 100, 110, 0, kOwnCosts)
                         .kernel("void cublasLt::splitKreduce_kernel<32>()", 5, 110, 120, 0, kOwnCosts)
                         .op("my::op", 52, 58)
                         .kernel("mine", 53, 120, 130, 0, kOwnCosts)
                         .kernel("alone", 60, 130, 140, 0, kOwnCosts)
                         .kernel("only_bytes", 70, 140, 150, 0, R"(,"kernel_num_gb":"3e-6")")
                         .kernel("odd", 80, 150, 160, 0, R"(,"kernel_flop":"many","kernel_num_gb":-1)")
                         .import();
  const auto costs = costs_by_name(*trace);
  EXPECT_EQ(costs.at("gemm").flops, kMmFlops);
  EXPECT_EQ(costs.at("gemm").flops_source, CostSource::Shapes);
  EXPECT_FALSE(costs.at("void cublasLt::splitKreduce_kernel<32>()").flops);
  for (const char* name : {"mine", "alone"}) {
    EXPECT_EQ(costs.at(name).flops, 5000u) << name;
    EXPECT_EQ(costs.at(name).bytes, 2000u) << name;
    EXPECT_EQ(costs.at(name).flops_source, CostSource::Event) << name;
    EXPECT_EQ(costs.at(name).bytes_source, CostSource::Event) << name;
    EXPECT_EQ(costs.at(name).peak, std::nullopt) << name;
  }
  EXPECT_EQ(costs.at("only_bytes").bytes, 3000u);
  EXPECT_FALSE(costs.at("only_bytes").flops);
  EXPECT_EQ(costs.at("only_bytes").no_flops, NoCost::NoLaunch);
  EXPECT_FALSE(costs.at("odd").flops);
  EXPECT_FALSE(costs.at("odd").bytes);
  const KernelCost assumed = costs_by_name(*trace, DataType::Bf16).at("alone");
  EXPECT_EQ(assumed.peak, PeakType::Bf16);
  EXPECT_TRUE(assumed.assumed);
}

TEST(KernelCost, TheTypeOfListsIsTheUsersThoughTheTraceHasTypes) {
  const auto trace =
      TraceText()
          .op("aten::cat", 0, 50, R"(,"Input Dims":[[[4,8],[4,8]],[]],"Input type":["TensorList","Scalar"])")
          .kernel("CatArrayBatchedCopy", 1, 100, 110)
          .import();
  EXPECT_EQ(costs_by_name(*trace).at("CatArrayBatchedCopy").no_bytes, NoCost::NoType);
  const KernelCost assumed = costs_by_name(*trace, DataType::Bf16).at("CatArrayBatchedCopy");
  EXPECT_EQ(assumed.bytes, 2u * 64 * 2);
  EXPECT_TRUE(assumed.assumed);
}

TEST(KernelCost, CausalAttentionIsSaidAndItsUsefulPartMissesWithAReason) {
  const auto attention = [](std::string_view concrete) {
    const auto trace =
        TraceText()
            .op("aten::_scaled_dot_product_flash_attention", 0, 50,
                R"(,"Input Dims":[[2,3,4,8],[2,3,4,8],[2,3,4,8],[],[]],"Input type":["float","float","float","Scalar","Scalar"])" +
                    std::string(concrete))
            .kernel("flash_fwd_kernel", 1, 100, 110)
            .import();
    PeakSums sums;
    sums.add(costs_by_name(*trace).at("flash_fwd_kernel"), 10'000, DevicePeaks{});
    return sums;
  };
  const PeakSums causal = attention(R"(,"Concrete Inputs":["","","","0.","True"])");
  EXPECT_EQ(causal.note(), "causal");
  EXPECT_EQ(causal.useful_note(), "");
  EXPECT_EQ(causal.useful_flops * 2, causal.flops);
  const PeakSums full = attention(R"(,"Concrete Inputs":["","","","0.","False"])");
  EXPECT_EQ(full.note(), "");
  EXPECT_EQ(full.useful_flops, full.flops);
  const PeakSums unknown = attention("");
  EXPECT_EQ(unknown.with_useful, 0u);
  EXPECT_EQ(unknown.useful_note(), "useful FLOPs: stride, padding or other arguments are not in the trace");
  PeakSums both = causal;
  both.add_all(unknown);
  EXPECT_EQ(both.note(), "causal: 1 of 2 launches");
  EXPECT_EQ(both.useful_note(), "no useful FLOPs of 1 of 2 launches");
}

TEST(KernelCost, ShapesOfEmitNvtxCountToo) {
  const auto trace =
      TraceText().op("aten::mm, seq = 3, sizes = [[64, 32], [32, 16]]", 0, 50).kernel("gemm", 1, 100, 110).import();
  Trace& changed = *trace;
  for (uint32_t row = 0; row < changed.ranges.size(); ++row)
    changed.ranges[row].kind = RangeKind::Nvtx, changed.ranges[row].payload = 0;
  EXPECT_EQ(costs_by_name(*trace).at("gemm").flops, kMmFlops);
  EXPECT_EQ(costs_by_name(*trace).at("gemm").no_bytes, NoCost::NoType);
  EXPECT_EQ(costs_by_name(*trace, DataType::Fp32).at("gemm").bytes, kMmBytes);
}

TEST(KernelCost, WhatHasNoOperatorHasNoNumber) {
  const auto trace = TraceText().op("aten::mm", 0, 50, kMm).kernel("gemm", 60, 100, 110).import();
  EXPECT_EQ(costs_by_name(*trace).at("gemm").no_flops, NoCost::NoLaunch);
}

}  // namespace
}  // namespace prof::analyzer
