// Fields of rows that hold several values: what is put in comes out, and what does not fit is cut as documented.
#include "analyzer/dependencies/dependency_graph.h"
#include "analyzer/model/trace.h"
#include "preload/format/stack_definitions.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

TEST(PackedFields, ACopyHasItsKindAndBothMemories) {
  GpuOperation copy;
  copy.set_kind(GpuKind::Copy);
  copy.detail = GpuOperation::copy_detail(10, 3, 255);
  EXPECT_EQ(copy.kind(), GpuKind::Copy);
  EXPECT_EQ(copy.copy_kind(), 10u);
  EXPECT_EQ(copy.source_memory(), 3u);
  EXPECT_EQ(copy.destination_memory(), 255u);
  EXPECT_TRUE(copy.touches_memory(3) && copy.touches_memory(255));
  EXPECT_FALSE(copy.touches_memory(10));
  copy.set_bytes((uint64_t{1} << 48) + 5);
  EXPECT_EQ(copy.bytes, 5u);
  copy.set_peers(2, 300);
  EXPECT_EQ(copy.peer_source, 2u);
  EXPECT_EQ(copy.peer_destination, 300u & 0xff);
}

TEST(PackedFields, APeerCopyOfALogHasBothDevices) {
  format::CopyRun run;
  EXPECT_EQ(run.peer_source(), 0u) << "no peer copy";
  run.peer = format::CopyRun::peers(0, 7);
  EXPECT_EQ(run.peer_source(), 1u);
  EXPECT_EQ(run.peer_destination(), 8u);
}

TEST(PackedFields, ANodeOfAGraphHasItsGraph) {
  const uint64_t node = graph_node_id(UINT32_MAX, 9);
  EXPECT_EQ(graph_of(node), UINT32_MAX);
  EXPECT_EQ(index_in_graph(node), 9u);
}

TEST(PackedFields, FlagsOfACallAreAddedAndRemovedAlone) {
  HostEvent event;
  event.word = HostEvent::pack(77, HostKind::GraphLaunch, kHostNoGpuTimes | kHostNested, 700);
  event.add_flag_atomically(kHostHasGpu);
  event.remove_flag(kHostNoGpuTimes);
  EXPECT_EQ(event.api(), 77u);
  EXPECT_EQ(event.kind(), HostKind::GraphLaunch);
  EXPECT_EQ(event.flags(), kHostNested | kHostHasGpu);
  EXPECT_EQ(event.result(), 700u);
}

TEST(PackedFields, ANodeOfTheRunKeepsKindFlagsAndSubject) {
  Node node;
  node.set(NodeKind::Copy, kNodeUnexplained, 1234);
  node.add_flag(kNodeLast);
  EXPECT_EQ(node.kind(), NodeKind::Copy);
  EXPECT_EQ(node.flags(), kNodeUnexplained | kNodeLast);
  EXPECT_EQ(node.subject(), 1234u);
  const Node same = Node::of_kind_and_flags(node.kind_and_flags());
  EXPECT_EQ(same.kind(), node.kind());
  EXPECT_EQ(same.flags(), node.flags());
  node.set(NodeKind::Copy, 0, UINT32_MAX);
  EXPECT_EQ(node.subject(), Node::kSubjects - 1) << "larger numbers are stored as the largest";
}

TEST(PackedFields, AFrameOfPythonHasItsEntryBit) {
  const uint64_t word = format::python_frame_word(5, true);
  EXPECT_EQ(static_cast<uint64_t>(format::python_frame_of(word)), 5u);
  EXPECT_TRUE(format::is_python_entry(word));
  EXPECT_FALSE(format::is_python_entry(format::python_frame_word(5, false)));
}

}  // namespace
}  // namespace prof::analyzer
