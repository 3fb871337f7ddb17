// What does a host event's row have of its members?
#include "analyzer/input/kineto/kineto_host_rows.h"

#include <gtest/gtest.h>

#include <string_view>

namespace prof::analyzer {
namespace {

class KinetoHostRows : public ::testing::Test {
 protected:
  KinetoRows rows;
  KinetoNumbering numbering{rows};
  KinetoHostRowMaker maker{rows, numbering};
  KinetoEvent event;
  const KinetoTimes times{1000, 3000};

  KinetoHostRows() {
    event.name = "aten::mm";
    event.pid = "10";
    event.tid = "11";
  }
  std::string_view text(StretchText number) const { return rows.texts.texts()[index(number)]; }
};

TEST_F(KinetoHostRows, OfCallsHaveNameTrackAndIds) {
  event.set(KinetoArgument::Correlation, "3");
  event.set(KinetoArgument::ExternalId, "5");
  maker.add_call(event, times);
  ASSERT_EQ(rows.calls.size(), 1u);
  EXPECT_EQ(text(rows.calls[0].name), "aten::mm");
  EXPECT_EQ(rows.calls[0].begin_ns, 1000);
  EXPECT_EQ(rows.calls[0].end_ns, 3000);
  EXPECT_EQ(rows.calls[0].correlation, 3u);
  EXPECT_EQ(rows.calls[0].external_id, 5u);
  EXPECT_EQ(text(rows.tracks[index(rows.calls[0].track)].tid), "11");
}

TEST_F(KinetoHostRows, OfOperatorsHaveADetailOnlyWhereThereIsOne) {
  maker.add_range(event, times, RangeKind::Operator);
  EXPECT_EQ(rows.ranges[0].detail, StretchDetail{});
  event.set(KinetoArgument::Sequence, "7");
  event.set(KinetoArgument::InputDims, "[[2,3]]");
  event.set(KinetoArgument::NumWarps, "4");
  event.set(KinetoArgument::KernelFile, "\"a.py\"");
  maker.add_range(event, times, RangeKind::Operator);
  ASSERT_EQ(index(rows.ranges[1].detail), 1u);
  EXPECT_EQ(rows.details[0].sequence, 7);
  EXPECT_EQ(text(rows.details[0].dims), "[[2,3]]");
  EXPECT_EQ(text(rows.details[0].other), R"("kernel_file":"a.py","num_warps":4)");
  maker.add_range(event, times, RangeKind::Python);
  EXPECT_EQ(rows.ranges[2].detail, StretchDetail{});
  EXPECT_EQ(rows.details.size(), 1u);
}

TEST_F(KinetoHostRows, OfRangesAndMarksHaveTheDomainOfTheName) {
  event.set(KinetoArgument::Domain, "library");
  maker.add_range(event, times, RangeKind::Annotation);
  maker.add_mark(event, 500);
  EXPECT_EQ(text(rows.ranges[0].label.domain), "library");
  EXPECT_EQ(text(rows.marks[0].label.domain), "library");
  EXPECT_EQ(text(rows.marks[0].label.name), "aten::mm");
  EXPECT_EQ(rows.marks[0].time_ns, 500);
}

TEST_F(KinetoHostRows, OfAllocationsHaveADeviceUnlessTheyAreHostMemory) {
  event.set(KinetoArgument::MemoryBytes, "-512");
  event.set(KinetoArgument::MemoryAddress, "140024020467712");
  event.set(KinetoArgument::MemoryAllocated, "1024");
  event.set(KinetoArgument::MemoryReserved, "2048");
  event.set(KinetoArgument::MemoryDevice, "2");
  event.set(KinetoArgument::MemoryDeviceType, "1");
  maker.add_memory(event, 500);
  EXPECT_EQ(rows.memory[0].bytes, -512);
  EXPECT_EQ(rows.memory[0].address, 140024020467712u);
  EXPECT_EQ(rows.memory[0].allocated, 1024u);
  EXPECT_EQ(rows.memory[0].reserved, 2048u);
  EXPECT_EQ(rows.memory[0].device, 2u);
  event.set(KinetoArgument::MemoryDeviceType, "0");
  maker.add_memory(event, 500);
  EXPECT_EQ(rows.memory[1].device, kNone);
}

TEST_F(KinetoHostRows, OfHalvesOfRangesHaveWhatJoinsThem) {
  event.cat = "x";
  event.id = "0x1";
  event.set(KinetoArgument::Sequence, "7");
  maker.add_edge(event, 1, KinetoEdgeKind::NestedBegin, RangeKind::Operator);
  maker.add_edge(event, 2, KinetoEdgeKind::NestedEnd, RangeKind::Operator);
  maker.add_edge(event, 3, KinetoEdgeKind::AsyncBegin, RangeKind::Annotation);
  maker.add_edge(event, 4, KinetoEdgeKind::AsyncEnd, RangeKind::Annotation);
  ASSERT_EQ(rows.edges.size(), 4u);
  EXPECT_EQ(rows.edges[0].kind, RangeKind::Operator);
  EXPECT_EQ(index(rows.edges[0].detail), 1u);
  EXPECT_EQ(rows.edges[0].key, StretchText{});
  EXPECT_EQ(rows.edges[1].label.name, rows.edges[0].label.name);
  EXPECT_EQ(text(rows.edges[2].key), "x\n0x1\n\n10");
  EXPECT_EQ(rows.edges[3].key, rows.edges[2].key);
  EXPECT_EQ(rows.details.size(), 1u);
}

}  // namespace
}  // namespace prof::analyzer
