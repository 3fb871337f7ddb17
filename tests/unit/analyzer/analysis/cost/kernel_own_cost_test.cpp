// What is known of a kernel itself, and what does it replace? With rows made by hand.
#include "analyzer/analysis/cost/kernel_own_cost.h"

#include <gtest/gtest.h>

#include <string_view>

namespace prof::analyzer {
namespace {

class KernelOwnCost : public ::testing::Test {
 protected:
  Trace trace;

  KernelOwnCost() { trace.details.push_back({}); }
  void kernel(std::string_view members = "") {
    GpuOperation row;
    row.detail = static_cast<uint32_t>(trace.kernels.size());
    trace.kernels.emplace_back().name = trace.strings.intern("gemm");
    if (!members.empty()) {
      row.bytes = trace.details.size() & 0xffff;
      OperatorDetail detail;
      detail.other = trace.strings.intern(members);
      trace.details.push_back(detail);
    }
    row.launch = static_cast<uint32_t>(trace.host.size());
    trace.host.push_back({});
    trace.operations.push_back(row);
  }
  // Values of one set for the launch of the latest kernel.
  void counted(double bytes) {
    CounterTable& counters = trace.counters;
    if (counters.sets.empty()) counters.sets.emplace_back().metrics = {trace.strings.intern("dram__bytes.sum")};
    counters.launches.push_back({static_cast<uint32_t>(trace.host.size() - 1), 0, counters.values.size()});
    counters.values.push_back(bytes);
  }
  void add_events(KernelCostTable& table, DataType assumed) {
    const KernelNames names(trace);
    KernelRoles roles(trace, names);
    add_event_costs(trace, assumed, roles, table);
  }
};

TEST_F(KernelOwnCost, OfAnEventCountsWhereNothingElseIsKnown) {
  kernel(R"("kernel_num_gb":"2e-6","kernel_flop":5000)");
  kernel(R"("kernel_flop":5000)");
  kernel();
  KernelCostTable table(3, NoCost::NoShapes);
  table.entry(1).no_flops = NoCost::Helper;  // an operator has this kernel
  add_events(table, DataType::Bf16);
  EXPECT_EQ(table.of(0).flops, 5000u);
  EXPECT_EQ(table.of(0).bytes, 2000u);
  EXPECT_EQ(table.of(0).flops_source, CostSource::Event);
  EXPECT_EQ(table.of(0).peak, PeakType::Bf16);
  EXPECT_TRUE(table.of(0).assumed);
  EXPECT_FALSE(table.of(1).flops);
  EXPECT_FALSE(table.has_entry(2));
}

TEST_F(KernelOwnCost, OfAnEventWithoutNumbersIsNone) {
  kernel(R"("kernel_flop":"many")");
  KernelCostTable table(1, NoCost::NoShapes);
  add_events(table, DataType::Unknown);
  EXPECT_FALSE(table.any_entry());
}

TEST_F(KernelOwnCost, OfCountersReplacesWhatIsThere) {
  kernel();
  counted(1234);
  kernel();
  counted(-1);  // no number of bytes
  KernelCostTable table(2, NoCost::NoShapes);
  table.entry(0).bytes = 5;
  table.entry(0).bytes_source = CostSource::Shapes;
  add_counter_costs(trace, table);
  EXPECT_EQ(table.of(0).bytes, 1234u);
  EXPECT_EQ(table.of(0).bytes_source, CostSource::Counters);
  EXPECT_EQ(table.of(0).no_bytes, NoCost::None);
  EXPECT_FALSE(table.of(0).flops);
  EXPECT_FALSE(table.has_entry(1));
}

}  // namespace
}  // namespace prof::analyzer
