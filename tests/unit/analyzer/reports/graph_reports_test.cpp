// The reports about CUDA graphs on another tool's trace, which identifies graphs only by number.
#include "analyzer/model/graph_origins.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

namespace prof::tests {
namespace {

using namespace analyzer;

// One launch whose first operation is a copy: 4,096 bytes do not identify a graph.
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
  EXPECT_EQ(row_text(table, 0, {"graph", "kernels", "launches", "operations", "gpu_sum", "attributed"}),
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

// Graph 3 contains graph 2 (a copy of 1, in which graph 5 is copied as 6) as its node 0 and graph 7 (a copy of 4) as
// its node 1. Graph 9 is instantiated from 3.
HandTrace nested() {
  HandTrace hand;
  hand.call("cudaGraphLaunch", 0, 10, 1);
  hand.trace.processes[0].format = "prof log";
  const auto made = [&](uint32_t origin, uint32_t graph, uint32_t from, uint64_t node) {
    hand.trace.graphs_made.push_back({.time_ns = 1, .node = node, .origin = origin, .graph = graph, .from = from});
  };
  const auto node = [&](uint32_t graph, uint32_t index, uint32_t type) {
    hand.trace.graph_nodes.push_back({.node = uint64_t{graph} << 32 | index, .time_ns = 1, .type = type});
  };
  constexpr uint32_t kKernel = 0, kCopy = 1, kChild = 4;
  constexpr uint32_t kEmpty = 0, kInside = 2, kInstantiated = 4;
  for (const uint32_t graph : {1u, 3u, 4u, 5u}) made(kEmpty, graph, 0, 0);
  node(1, 0, kChild), node(5, 0, kKernel), node(5, 1, kCopy);
  node(3, 0, kChild), node(3, 1, kChild), node(4, 0, kKernel);
  made(kInside, 6, 5, uint64_t{1} << 32);
  made(kInside, 2, 1, uint64_t{3} << 32);
  made(kInside, 7, 4, uint64_t{3} << 32 | 1);
  made(kInstantiated, 9, 3, 0);
  for (uint32_t i = 0; i < 3; ++i) {
    i == 1 ? hand.copy(20 + 10 * i, 25 + 10 * i, 1, 4096, 0x030101) : hand.kernel(20 + 10 * i, 25 + 10 * i, 1);
    hand.trace.operations[i].graph_node = uint64_t{9} << 32 | (3 + i);
  }
  hand.finish();
  return hand;
}

TEST(GraphReports, NodesOfChildGraphsAreNumberedBehindThoseOfTheGraphDepthFirst) {
  const HandTrace hand = nested();
  const GraphOrigins origins(hand.trace);
  const auto node = [&](size_t operation) {
    const NodeFound found = origins.of(hand.trace.operations[operation]);
    return found.row == kNone ? 0 : hand.trace.graph_nodes[found.row].node;
  };
  EXPECT_EQ(node(0), uint64_t{5} << 32 | 0);  // 0 and 1 are nodes of 3, 2 is a node of 2, 3 and 4 are nodes of 6
  EXPECT_EQ(node(1), uint64_t{5} << 32 | 1);
  EXPECT_EQ(node(2), uint64_t{4} << 32 | 0);
}

TEST(GraphReports, ANumberBehindTheNodesOfAGraphThatDoesNotFitStaysUnknown) {
  HandTrace hand = nested();
  std::swap(hand.trace.operations[0].graph_node, hand.trace.operations[1].graph_node);  // a kernel in place of the copy
  hand.trace.operations[2].graph_node = uint64_t{9} << 32 | 6;
  const GraphOrigins origins(hand.trace);
  for (const GpuOperation& operation : hand.trace.operations) {
    EXPECT_EQ(origins.of(operation).origin, NodeOrigin::Unknown) << operation.start_ns;
  }
}

}  // namespace
}  // namespace prof::tests
