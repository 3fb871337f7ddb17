// Does each operation have its own numbers, or the reason that it shares with others?
#include "analyzer/analysis/cost/kernel_cost_table.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

TEST(KernelCostTable, HasAReasonForEveryOperationAtFirst) {
  KernelCostTable table(3, NoCost::NoShapes);
  table.set_in_range(1);
  EXPECT_EQ(table.of(0).no_flops, NoCost::NoLaunch);
  EXPECT_EQ(table.of(1).no_flops, NoCost::NoShapes);
  EXPECT_EQ(table.of(1).no_bytes, NoCost::NoShapes);
  EXPECT_FALSE(table.has_entry(1));
  EXPECT_FALSE(table.any_entry());
  EXPECT_EQ(table.in_range_reason(), NoCost::NoShapes);
}

TEST(KernelCostTable, MakesAnEntryOfOneOperationOnly) {
  KernelCostTable table(3, NoCost::NoFormula);
  table.set_in_range(1);
  table.set_in_range(2);
  table.entry(1).flops = 5;
  EXPECT_TRUE(table.any_entry());
  EXPECT_TRUE(table.has_entry(1));
  EXPECT_FALSE(table.has_entry(2));
  EXPECT_EQ(table.of(1).flops, 5u);
  EXPECT_EQ(table.of(1).no_bytes, NoCost::NoFormula);
  EXPECT_FALSE(table.of(2).flops);
  table.entry(1).bytes = 7;
  EXPECT_EQ(table.of(1).flops, 5u);
}

}  // namespace
}  // namespace prof::analyzer
