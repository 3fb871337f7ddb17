// How are the numbers of a range given to its kernels? With operations made by hand.
#include "analyzer/analysis/cost/kernel_shares.h"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <vector>

namespace prof::analyzer {
namespace {

class KernelSharing : public ::testing::Test {
 protected:
  Trace trace;
  std::vector<KernelClaim> claims;
  std::unique_ptr<KernelCostTable> table;

  void kernel(std::string_view name, int64_t duration_ns) {
    GpuOperation row;
    row.end_ns = duration_ns;
    row.detail = static_cast<uint32_t>(trace.kernels.size());
    trace.kernels.emplace_back().name = trace.strings.intern(name);
    claims.push_back({7, static_cast<uint32_t>(trace.operations.size()), 0});
    trace.operations.push_back(row);
  }
  void share(const RangeCost& range, bool counted_inside = false) {
    table = std::make_unique<KernelCostTable>(trace.operations.size(), NoCost::NoFormula);
    const KernelNames names(trace);
    KernelRoles roles(trace, names);
    KernelShares(trace, names, roles, *table).share(claims, range, counted_inside);
  }
  static RangeCost product(uint64_t flops, uint64_t bytes) {
    RangeCost range;
    range.cost.known = range.cost.matrix = true;
    range.cost.flops = range.cost.useful_flops = flops;
    range.cost.bytes = bytes;
    range.cost.type = DataType::Bf16;
    range.flops_source = range.bytes_source = CostSource::Shapes;
    return range;
  }
};

TEST_F(KernelSharing, GivesAllToTheMainKernelAndTheReasonToItsHelper) {
  kernel("splitKreduce_kernel", 100);
  kernel("gemm", 10);
  share(product(1000, 50));
  EXPECT_EQ(table->of(1).flops, 1000u);
  EXPECT_EQ(table->of(1).useful_flops, 1000u);
  EXPECT_EQ(table->of(1).bytes, 50u);
  EXPECT_EQ(table->of(1).peak, PeakType::Bf16);
  EXPECT_EQ(table->of(1).op, 7u);
  EXPECT_FALSE(table->of(0).flops);
  EXPECT_EQ(table->of(0).no_flops, NoCost::Helper);
  EXPECT_EQ(table->of(0).main, 1u);
}

TEST_F(KernelSharing, DividesByTimeAmongLaunchesOfOneKernelWithoutLosingARest) {
  kernel("gemm", 10);
  kernel("gemm", 20);
  kernel("gemm", 40);
  share(product(1001, 8));
  EXPECT_EQ(table->of(0).flops, 143u);
  EXPECT_EQ(*table->of(0).flops + *table->of(1).flops + *table->of(2).flops, 1001u);
  EXPECT_EQ(*table->of(0).bytes + *table->of(1).bytes + *table->of(2).bytes, 8u);
}

TEST_F(KernelSharing, GivesKernelsWithoutTimeTheirShareToo) {
  kernel("gemm", 0);
  kernel("gemm", 0);
  share(product(1000, 50));
  EXPECT_EQ(*table->of(0).flops + *table->of(1).flops, 1000u);
}

TEST_F(KernelSharing, SpreadsACostOverAllKernelsWhereEachDoesAPart) {
  kernel("a", 10);
  kernel("b", 30);
  RangeCost range = product(1000, 40);
  range.spread = true;
  share(range);
  EXPECT_EQ(table->of(0).flops, 250u);
  EXPECT_EQ(table->of(1).flops, 750u);
  EXPECT_EQ(table->of(1).main, kNone);
}

TEST_F(KernelSharing, GivesEachGradientToTheKernelNamedAfterIt) {
  kernel("wgrad_gemm", 10);
  kernel("dgrad_gemm", 20);
  kernel("nchwToNhwcKernel", 90);
  RangeCost range = product(1000, 41);
  range.cost.input_gradient = 400;
  range.cost.weight_gradient = 600;
  share(range);
  EXPECT_EQ(table->of(0).flops, 600u);
  EXPECT_EQ(table->of(1).flops, 400u);
  EXPECT_EQ(*table->of(0).bytes + *table->of(1).bytes, 41u);
  EXPECT_FALSE(table->of(2).flops);
  EXPECT_EQ(table->of(2).main, 1u);
}

TEST_F(KernelSharing, GivesNothingWhereAnInnerRangeHasTheNumbers) {
  kernel("fill", 10);
  share(product(1000, 50), true);
  EXPECT_FALSE(table->of(0).flops);
  EXPECT_EQ(table->of(0).no_flops, NoCost::CountedInside);
  EXPECT_EQ(table->of(0).no_bytes, NoCost::CountedInside);
}

TEST_F(KernelSharing, TakesThePeakOfALibraryCallAsItIs) {
  kernel("gemm_tf32", 10);
  RangeCost range = product(1000, 50);
  range.call_has_peak = true;
  range.peak = PeakType::Fp8;
  share(range);
  EXPECT_EQ(table->of(0).peak, PeakType::Fp8);
}

}  // namespace
}  // namespace prof::analyzer
