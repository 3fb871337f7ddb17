// What does a range have to do, and which range around a kernel has a cost?
#include "analyzer/analysis/cost/range_cost.h"

#include "tests/unit/analyzer/analysis/cost/operator_trace.h"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>

namespace prof::analyzer {
namespace {

using tests::kMm;
using tests::kMmBytes;
using tests::kMmFlops;
using tests::TraceText;

uint32_t row_named(const Trace& trace, std::string_view name) {
  for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
    if (trace.range_name(trace.ranges[row]) == name) return row;
  }
  ADD_FAILURE() << "no range " << name;
  return 0;
}

TEST(RangeCosts, OfAnOperatorFollowFromItsShapes) {
  const auto trace = TraceText().op("aten::mm", 0, 50, kMm).import();
  const LibraryCalls calls(*trace);
  RangeCosts costs(*trace, calls, DataType::Unknown);
  const RangeCost& cost = costs.of(0);
  EXPECT_TRUE(cost.cost.known);
  EXPECT_EQ(cost.cost.flops, kMmFlops);
  EXPECT_EQ(cost.cost.bytes, kMmBytes);
  EXPECT_EQ(cost.flops_source, CostSource::Shapes);
  EXPECT_EQ(cost.bytes_source, CostSource::Shapes);
  EXPECT_FALSE(cost.assumed);
  EXPECT_FALSE(cost.call_has_peak);
}

TEST(RangeCosts, WithoutShapesAnOperatorHasNone) {
  const auto trace = TraceText().op("aten::mm", 0, 50).import();
  const LibraryCalls calls(*trace);
  RangeCosts costs(*trace, calls, DataType::Unknown);
  EXPECT_FALSE(costs.of(0).cost.known);
  EXPECT_EQ(costs.owner(0), kNone);
}

TEST(RangeCosts, BelongToTheInnermostRangeThatHasOne) {
  const auto trace = TraceText()
                         .range("step", 0, 100)
                         .op("aten::mm", 5, 50, kMm)
                         .op("aten::empty", 10, 20)
                         .op("aten::other", 60, 70)
                         .import();
  const LibraryCalls calls(*trace);
  RangeCosts costs(*trace, calls, DataType::Unknown);
  const uint32_t mm = row_named(*trace, "aten::mm");
  EXPECT_EQ(costs.owner(row_named(*trace, "aten::empty")), mm);
  EXPECT_EQ(costs.owner(mm), mm);
  EXPECT_EQ(costs.owner(row_named(*trace, "aten::other")), kNone);
  EXPECT_EQ(costs.owner(row_named(*trace, "aten::empty")), mm);  // once more, out of the memo
}

TEST(RangeCosts, OfALibraryCallAreCompletedByTheOperatorAround) {
  constexpr std::string_view kCall =
      "cudnnBackendExecute(op=attention, x=2x3x4x8, w=2x3x4x8, v=2x3x4x8, y=2x3x4x8, A=bf16, B=bf16, V=bf16, C=bf16, "
      "operations=1)";
  constexpr std::string_view kArguments =
      R"(,"Input Dims":[[2,3,4,8],[2,3,4,8],[2,3,4,8],[],[],[],[]])"
      R"(,"Input type":["c10::BFloat16","c10::BFloat16","c10::BFloat16","","Scalar","Scalar","Scalar"])"
      R"(,"Concrete Inputs":["","","","","False","0.","True"])";
  const auto trace =
      TraceText().op("aten::_scaled_dot_product_cudnn_attention", 0, 50, kArguments).op(kCall, 10, 40).import();
  const uint32_t row = row_named(*trace, kCall);
  Range& call = trace->ranges[row];
  trace->labels[index(call.label)].domain = trace->strings.intern("library");
  call.kind = RangeKind::Nvtx;
  call.payload = 0;
  const LibraryCalls calls(*trace);
  RangeCosts costs(*trace, calls, DataType::Unknown);
  EXPECT_EQ(costs.of(row).flops_source, CostSource::Library);
  EXPECT_FALSE(costs.of(row).cost.useful_flops);
  const RangeCost whole = costs.with_operator(row);
  EXPECT_TRUE(whole.cost.causal);
  EXPECT_EQ(*whole.cost.useful_flops * 2, *whole.cost.flops);
  EXPECT_FALSE(costs.of(row).cost.useful_flops);  // other calls of that text may have another operator around
}

TEST(RangeCosts, TakeTorchCompilesNumbersWhereShapesHaveNone) {
  const auto trace = TraceText().op("triton_poi", 0, 20, R"(,"kernel_flop":4000,"kernel_num_gb":0.001)").import();
  const LibraryCalls calls(*trace);
  RangeCosts costs(*trace, calls, DataType::Bf16);
  const RangeCost& cost = costs.of(0);
  EXPECT_EQ(cost.cost.flops, 4000u);
  EXPECT_EQ(cost.cost.bytes, 1'000'000u);
  EXPECT_EQ(cost.flops_source, CostSource::Inductor);
  EXPECT_EQ(cost.cost.type, DataType::Bf16);
  EXPECT_TRUE(cost.assumed);
}

}  // namespace
}  // namespace prof::analyzer
