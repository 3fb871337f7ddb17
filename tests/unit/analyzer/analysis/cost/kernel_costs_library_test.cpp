// What a library call does not report about its operation, and what the operator around it knows.
#include "analyzer/analysis/cost/kernel_costs.h"

#include "tests/unit/analyzer/analysis/cost/operator_trace.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace prof::analyzer {
namespace {

using namespace tests;

// The imported trace, with all ranges whose name ends with a parenthesis turned into library calls, as in a log.
std::unique_ptr<Trace> with_calls(const TraceText& text) {
  std::unique_ptr<Trace> trace = text.import();
  const StringId library = trace->strings.intern("library");
  for (Label& label : trace->labels) {
    if (trace->text(label.text).ends_with(")")) label.domain = library;
  }
  for (Range& range : trace->ranges) {
    if (trace->labels[index(range.label)].domain == library) range.kind = RangeKind::Nvtx, range.payload = 0;
  }
  return trace;
}

// b 2, h 3, s 4, d 8: 2·2·3·16·(8 + 8) FLOPs, four tensors of 192 elements.
constexpr std::string_view kFused =
    "cudnnBackendExecute(op=matmul, x=2x3x4x8, w=2x3x8x4, y=2x3x4x4, A=bf16, B=bf16, C=fp32, op=matmul, x=2x3x4x4, "
    "w=2x3x4x8, y=2x3x4x8, A=bf16, B=bf16, C=bf16, operations=9)";
constexpr std::string_view kAlone =
    "cudnnBackendExecute(op=attention, x=2x3x4x8, w=2x3x4x8, v=2x3x4x8, y=2x3x4x8, A=bf16, B=bf16, V=bf16, C=bf16, "
    "operations=1)";

std::string asked_for(std::string_view causal, int keys = 4) {
  return fmt::format(
      R"(,"Input Dims":[[2,3,4,8],[2,3,{0},8],[2,3,{0},8],[],[],[],[]],"Input type":["c10::BFloat16","c10::BFloat16","c10::BFloat16","","Scalar","Scalar","Scalar"],"Concrete Inputs":["","","","","False","0.","{1}"])",
      keys, causal);
}

KernelCost cost_inside(std::string_view op, std::string_view arguments, std::string_view call) {
  const auto trace =
      with_calls(TraceText().op(op, 0, 50, arguments).op(call, 10, 40).kernel("sdpa_kernel", 11, 100, 110));
  return costs_by_name(*trace).at("sdpa_kernel");
}

TEST(KernelCostLibrary, TheOperatorAroundACallTellsTheMaskAndTheBytesOfAnAttention) {
  constexpr std::string_view kOp = "aten::_scaled_dot_product_cudnn_attention";
  const KernelCost causal = cost_inside(kOp, asked_for("True"), kFused);
  EXPECT_EQ(causal.flops, 3072u);
  EXPECT_EQ(causal.flops_source, CostSource::Library);
  EXPECT_EQ(causal.useful_flops, 1536u);
  EXPECT_TRUE(causal.causal);
  EXPECT_EQ(causal.bytes, 4u * 192 * 2);
  EXPECT_EQ(causal.bytes_source, CostSource::Shapes);
  EXPECT_EQ(causal.peak, PeakType::Bf16);
  const KernelCost full = cost_inside(kOp, asked_for("False"), kAlone);
  EXPECT_EQ(full.useful_flops, 3072u);
  EXPECT_FALSE(full.causal);
  EXPECT_EQ(full.bytes_source, CostSource::Library);
}

TEST(KernelCostLibrary, WithoutAnOperatorOfTheSameFlopsTheMaskOfAnAttentionIsNotKnown) {
  for (const KernelCost& cost :
       {cost_inside("my::attention", "", kFused),
        cost_inside("aten::_scaled_dot_product_cudnn_attention", asked_for("True", 5), kFused)}) {
    EXPECT_EQ(cost.flops, 3072u);
    EXPECT_FALSE(cost.useful_flops);
    EXPECT_EQ(cost.no_useful, NoCost::UsefulUnknown);
    EXPECT_FALSE(cost.causal);
    EXPECT_FALSE(cost.bytes);
  }
}

TEST(KernelCostLibrary, AProductKnowsAllOfItsWorkItself) {
  const KernelCost cost = cost_inside(
      "aten::mm", kMm,
      "cublasSgemm_v2(transa=N, transb=N, m=16, n=64, k=32, A=fp32, B=fp32, C=fp32, compute=32f, math=tf32, beta=0)");
  EXPECT_EQ(cost.flops, kMmFlops);
  EXPECT_EQ(cost.useful_flops, kMmFlops);
  EXPECT_EQ(cost.bytes, kMmBytes);
  EXPECT_EQ(cost.bytes_source, CostSource::Library);
  EXPECT_EQ(cost.peak, PeakType::Tf32);
}

}  // namespace
}  // namespace prof::analyzer
