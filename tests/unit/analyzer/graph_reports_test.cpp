// The reports about CUDA graphs on another tool's trace, which knows graphs by number alone.
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

namespace prof::tests {
namespace {

using namespace analyzer;

// One launch whose first operation is a copy: 4,096 bytes are no graph.
HandTrace replayed() {
  HandTrace hand;
  hand.call("cudaGraphLaunch", 0, 10, 1);
  hand.copy(20, 30, 1, 4096, 0x030101);
  hand.trace.operations[0].graph_node = uint64_t{7} << 32 | 1;
  hand.kernel(40, 60, 1);
  hand.trace.operations[1].graph_node = uint64_t{7} << 32 | 2;
  hand.finish();
  return hand;
}

TEST(GraphReports, ALaunchOfAnotherToolIsOneLaunchOfNoKnownGraph) {
  HandTrace hand = replayed();
  EXPECT_EQ(hand.trace.host[0].kind(), HostKind::GraphLaunch);
  EXPECT_EQ(hand.trace.host[0].subject, 0u);
  const Table table = hand.report(report_cuda_graphs);
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(row_text(table, 0, {"graph", "kernels", "launches", "gpu_operations", "gpu_sum", "attributed"}),
            " |  | 1 | 2 | 30 | 0");
}

TEST(GraphReports, NodesOfAnotherToolWereCapturedWhereNobodyRecorded) {
  HandTrace hand = replayed();
  hand.trace.processes[0].format = "kineto-json";
  const Table table = hand.report(report_graph_nodes);
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(row_text(table, 0, {"graph", "node", "kind", "runs", "gpu_time", "captured_by", "captured_thread"}),
            "7 | 2 | kernel | 1 | 20 | not recorded | ");
  EXPECT_EQ(row_text(table, 1, {"graph", "node", "kind", "runs", "gpu_time", "captured_by", "captured_thread"}),
            "7 | 1 | memcpy | 1 | 10 | not recorded | ");
}

TEST(GraphReports, AWholeGraphCountsWhereKernelsCount) {
  HandTrace hand;
  hand.call("cudaGraphLaunch", 0, 10, 1);
  hand.kernel(20, 50, 1, 0, "[CUDA graph 7]");
  hand.trace.operations[0].kind_bits = static_cast<uint32_t>(GpuKind::Graph);
  hand.trace.operations[0].graph_node = uint64_t{7} << 32;
  hand.finish();
  EXPECT_TRUE(hand.trace.operations[0].has_kernel());
  EXPECT_EQ(hand.views().busy()[0].length_ns(), 30);
  const Table kernels = hand.report(report_kernels);
  EXPECT_EQ(row_text(kernels, 0, {"type", "count", "total", "name"}), "graph | 1 | 30 | [CUDA graph 7]");
  const Table nodes = hand.report(report_graph_nodes);
  EXPECT_EQ(nodes.rows(), 0u) << "what it is made of is not in the input";
}

}  // namespace
}  // namespace prof::tests
