// Do rows of stretches become rows of the trace with all of their fields?
#include "analyzer/input/kineto/kineto_model.h"

#include "analyzer/input/kineto/kineto_numbering.h"

#include <gtest/gtest.h>

#include <string_view>

namespace prof::analyzer {
namespace {

// The rows of one stretch, made by hand.
struct StretchByHand {
  KinetoRows rows;
  KinetoNumbering numbering{rows};

  void call(std::string_view name, int64_t begin_ns, uint32_t correlation) {
    KinetoCall row;
    row.begin_ns = begin_ns;
    row.end_ns = begin_ns + 10;
    row.track = numbering.track("10", "11");
    row.name = numbering.text(name);
    row.correlation = correlation;
    rows.calls.push_back(row);
  }
  KinetoOperation& operation(GpuKind kind, int64_t start_ns, uint32_t correlation) {
    KinetoOperation row;
    row.start_ns = start_ns;
    row.end_ns = start_ns + 100;
    row.kind = kind;
    row.stream = numbering.stream({numbering.pid("0"), 0, 1, 7});
    row.correlation = correlation;
    rows.operations.push_back(row);
    return rows.operations.back();
  }
};

TEST(KinetoModel, JoinsCallsAndOperationsOfTwoStretches) {
  StretchByHand first, second;
  first.call("cudaLaunchKernel", 1000, 1);
  second.numbering.text("other numbers than in the first");
  KinetoKernel kernel;
  kernel.name = second.numbering.text("k");
  kernel.grid[0] = 4;
  second.operation(GpuKind::Kernel, 2000, 1).kernel = second.numbering.kernel(kernel);
  Trace trace;
  KinetoModel model(trace, "t");
  model.add(first.rows);
  model.add(second.rows);
  model.finish({}, {});
  ASSERT_EQ(trace.operations.size(), 1u);
  EXPECT_EQ(trace.operations[0].start_ns, 1000);  // times count from the first event
  EXPECT_EQ(trace.operations[0].launch, 0u);
  EXPECT_EQ(trace.text(trace.kernels[trace.operations[0].detail].name), "k");
  EXPECT_EQ(trace.kernels[trace.operations[0].detail].grid[0], 4u);
  EXPECT_EQ(trace.stream(trace.operations[0].stream()).number, 7u);
  EXPECT_EQ(trace.host[0].kind(), HostKind::KernelLaunch);
  EXPECT_EQ(trace.processes.at(0).pid, 10u);
}

TEST(KinetoModel, PacksWhatCopiesAndMemsetsHave) {
  StretchByHand stretch;
  KinetoOperation& copy = stretch.operation(GpuKind::Copy, 100, 0);
  copy.bytes = 4096;
  copy.copy = {10, 2, 3};
  copy.peer_source = 1;
  copy.peer_destination = 2;
  copy.graph_node = uint64_t{2} << 32 | 3;
  KinetoOperation& fill = stretch.operation(GpuKind::Fill, 300, 0);
  fill.bytes = 8;
  fill.memory_kind = 3;
  Trace trace;
  KinetoModel model(trace, "t");
  model.add(stretch.rows);
  model.finish({}, {});
  ASSERT_EQ(trace.operations.size(), 2u);
  EXPECT_EQ(trace.operations[0].kind(), GpuKind::Copy);
  EXPECT_EQ(trace.operations[0].bytes, 4096u);
  EXPECT_EQ(trace.operations[0].detail, 10u | 2 << 8 | 3 << 16);
  EXPECT_EQ(trace.operations[0].peer_source, 1u);
  EXPECT_EQ(trace.operations[0].peer_destination, 2u);
  EXPECT_EQ(trace.operations[0].graph_node, uint64_t{2} << 32 | 3);
  EXPECT_EQ(trace.operations[1].kind(), GpuKind::Fill);
  EXPECT_EQ(trace.operations[1].bytes, 8u);
  EXPECT_EQ(trace.operations[1].detail, 3u);
}

TEST(KinetoModel, KeepsDetailsWithTheirRange) {
  StretchByHand stretch;
  KinetoDetail detail;
  detail.sequence = 5;
  detail.dims = stretch.numbering.text("[[2,3]]");
  stretch.rows.details = {KinetoDetail(), detail};
  KinetoRange range;
  range.begin_ns = 10;
  range.end_ns = 20;
  range.track = stretch.numbering.track("10", "11");
  range.label.name = stretch.numbering.text("aten::mm");
  range.kind = RangeKind::Operator;
  range.detail = StretchDetail{2};
  stretch.rows.ranges = {range};
  Trace trace;
  KinetoModel model(trace, "t");
  model.add(stretch.rows);
  model.add(stretch.rows);
  model.finish({}, {});
  ASSERT_EQ(trace.ranges.size(), 2u);
  EXPECT_EQ(trace.details.size(), 5u);
  for (const Range& row : trace.ranges) {
    ASSERT_NE(trace.detail(row), nullptr);
    EXPECT_EQ(trace.detail(row)->sequence, 5);
    EXPECT_EQ(trace.text(trace.detail(row)->dims), "[[2,3]]");
    EXPECT_EQ(trace.range_name(row), "aten::mm");
  }
}

TEST(KinetoModel, HasAProcessWithTheFactsWithoutAnyRow) {
  Trace trace;
  KinetoModel model(trace, "t");
  KinetoHeader header;
  header.facts.emplace_back("rank", "3");
  model.finish(header, {{{7, "the text ends early"}}, 1, 0});
  ASSERT_EQ(trace.processes.size(), 1u);
  EXPECT_EQ(trace.processes[0].fact("rank"), "3");
  EXPECT_EQ(trace.processes[0].fact("events"), "0");
  ASSERT_EQ(trace.processes[0].damage.size(), 1u);
  EXPECT_EQ(model.events(), 0u);
}

}  // namespace
}  // namespace prof::analyzer
