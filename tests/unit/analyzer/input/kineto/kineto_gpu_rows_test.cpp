// What does a GPU event's row have of its members?
#include "analyzer/input/kineto/kineto_gpu_rows.h"

#include <gtest/gtest.h>

#include <string_view>

namespace prof::analyzer {
namespace {

class KinetoGpuRows : public ::testing::Test {
 protected:
  KinetoRows rows;
  KinetoNumbering numbering{rows};
  KinetoGpuRowMaker maker{rows, numbering};
  KinetoEvent event;
  const KinetoTimes times{1000, 3000};

  KinetoGpuRows() {
    event.name = "k";
    event.pid = "0";
    event.tid = "7";
  }
  std::string_view text(StretchText number) const { return rows.texts.texts()[index(number)]; }
};

TEST_F(KinetoGpuRows, OfAKernelHaveShapeStreamAndIds) {
  event.set(KinetoArgument::Grid, "[4, 2, 1]");
  event.set(KinetoArgument::Block, "[128]");
  event.set(KinetoArgument::Registers, "32");
  event.set(KinetoArgument::SharedMemory, "64");
  event.set(KinetoArgument::Correlation, "3");
  event.set(KinetoArgument::ExternalId, "5");
  event.set(KinetoArgument::GraphId, "2");
  event.set(KinetoArgument::GraphNode, "3");
  event.set(KinetoArgument::Context, "1");
  maker.add_operation(event, times, GpuKind::Kernel);
  ASSERT_EQ(rows.operations.size(), 1u);
  const KinetoOperation& row = rows.operations[0];
  EXPECT_EQ(row.start_ns, 1000);
  EXPECT_EQ(row.end_ns, 3000);
  EXPECT_EQ(row.correlation, 3u);
  EXPECT_EQ(row.external_id, 5u);
  EXPECT_EQ(row.graph_node, uint64_t{2} << 32 | 3);
  EXPECT_EQ(row.numbers, StretchDetail{});
  const KinetoKernel& kernel = rows.kernels[index(row.kernel)];
  EXPECT_EQ(text(kernel.name), "k");
  EXPECT_EQ(kernel.grid[1], 2u);
  EXPECT_EQ(kernel.block[0], 128u);
  EXPECT_EQ(kernel.block[2], 1u);
  EXPECT_EQ(kernel.registers, 32u);
  EXPECT_EQ(kernel.shared_bytes, 64u);
  const KinetoStream& stream = rows.streams[index(row.stream)];
  EXPECT_EQ(stream.number, 7u);  // the thread, where no argument has the stream
  EXPECT_EQ(stream.context, 1u);
}

TEST_F(KinetoGpuRows, KeepTheFlopsAndBytesThatAKernelsEventHas) {
  event.set(KinetoArgument::KernelFlop, "5000");
  event.set(KinetoArgument::KernelGb, "\"2e-6\"");
  maker.add_operation(event, times, GpuKind::Kernel);
  ASSERT_EQ(index(rows.operations[0].numbers), 1u);
  EXPECT_EQ(text(rows.details[0].other), R"("kernel_num_gb":"2e-6","kernel_flop":5000)");
}

TEST_F(KinetoGpuRows, OfCopiesHaveDirectionSizeAndPeers) {
  event.name = "Memcpy PtoP (Device -> Device)";
  event.set(KinetoArgument::Bytes, "4096");
  event.set(KinetoArgument::FromDevice, "0");
  event.set(KinetoArgument::ToDevice, "1");
  maker.add_operation(event, times, GpuKind::Copy);
  const KinetoOperation& row = rows.operations[0];
  EXPECT_EQ(row.bytes, 4096u);
  EXPECT_EQ(row.copy.kind, 10u);
  EXPECT_EQ(row.copy.source, 3u);
  EXPECT_EQ(row.copy.destination, 3u);
  EXPECT_EQ(row.peer_source, 1u);
  EXPECT_EQ(row.peer_destination, 2u);
  EXPECT_TRUE(rows.kernels.empty());
}

TEST_F(KinetoGpuRows, OfMemsetsHaveTheKindOfMemory) {
  event.name = "Memset (Device)";
  event.set(KinetoArgument::Bytes, "8");
  maker.add_operation(event, times, GpuKind::Fill);
  EXPECT_EQ(rows.operations[0].memory_kind, 3u);
  EXPECT_EQ(rows.operations[0].bytes, 8u);
}

TEST_F(KinetoGpuRows, AreOnStreamZeroWhereTheEventNamesNone) {
  event.set(KinetoArgument::StreamNumber, "-1");
  maker.add_operation(event, times, GpuKind::Fill);
  EXPECT_EQ(rows.streams[index(rows.operations[0].stream)].number, 0u);
  maker.add_annotation(event, times);
  EXPECT_EQ(rows.gpu_annotations[0].stream, rows.operations[0].stream);
}

TEST_F(KinetoGpuRows, OfSynchronisationsMayHaveNoStream) {
  event.name = "Event Sync";
  event.set(KinetoArgument::StreamNumber, "-1");
  event.set(KinetoArgument::WaitOnStream, "9");
  event.set(KinetoArgument::WaitOnRecord, "2");
  event.set(KinetoArgument::WaitOnEvent, "-1");
  event.set(KinetoArgument::Correlation, "3");
  maker.add_sync(event, times);
  const KinetoSync& row = rows.syncs[0];
  EXPECT_EQ(row.stream, kNoStream);
  EXPECT_EQ(rows.streams[index(row.waits_for)].number, 9u);
  EXPECT_EQ(row.record_correlation, 2u);
  EXPECT_EQ(row.event_id, 0u);
  EXPECT_EQ(row.kind, SyncKind::Event);
}

TEST_F(KinetoGpuRows, OfAnnotationsTakeTheStreamOfTheirOwnArgument) {
  event.set(KinetoArgument::OfStream, "12");
  maker.add_annotation(event, times);
  EXPECT_EQ(rows.streams[index(rows.gpu_annotations[0].stream)].number, 12u);
  EXPECT_EQ(text(rows.gpu_annotations[0].name), "k");
}

TEST_F(KinetoGpuRows, HaveBothEndsOfArrowsToGpuWorkOnly) {
  event.name = "ac2g";
  event.id = "5";
  event.ts = "1";
  event.has_ts = true;
  maker.add_arrow_end(event, 's');
  maker.add_arrow_end(event, 't');
  maker.add_arrow_end(event, 'f');
  event.name = "fwdbwd";
  maker.add_arrow_end(event, 's');
  event.name = "ac2g";
  event.id = "x";
  maker.add_arrow_end(event, 's');
  ASSERT_EQ(rows.arrows.size(), 2u);
  EXPECT_TRUE(rows.arrows[0].at_call);
  EXPECT_FALSE(rows.arrows[1].at_call);
  EXPECT_EQ(rows.arrows[1].stream, 7u);
  EXPECT_EQ(rows.arrows[1].id, 5u);
  EXPECT_EQ(rows.arrows[1].time_ns, 1000);
}

}  // namespace
}  // namespace prof::analyzer
