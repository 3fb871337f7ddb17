// Profiles of nvprof: ranges are pairs of markers, calls are numbers.
#include "tests/unit/analyzer/input/sqlite/sqlite_database.h"

#include "analyzer/model/names.h"

namespace prof::analyzer {
namespace {

using tests::Database;

constexpr const char* kProfile = R"(
CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringTable VALUES (1, '_Z3addPf'), (2, 'forward'), (3, 'aten::mm, seq = 3'), (4, 'Tesla V100'), (5, 'maths');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INTEGER PRIMARY KEY, cbid, start, "end", processId, threadId, correlationId, returnValue);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 211, 1500000000000000100, 1500000000000000200, 42, -7, 1, 0),
  (2, 431999, 1500000000000000300, 1500000000000000400, 42, -7, 2, 0), (3, 41, 1500000000000000500, 1500000000000000520, 42, -7, 3, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER (_id_ INTEGER PRIMARY KEY, cbid, start, "end", processId, threadId, correlationId, returnValue);
INSERT INTO CUPTI_ACTIVITY_KIND_DRIVER VALUES (1, 307, 1500000000000000600, 1500000000000000650, 42, -7, 4, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (_id_ INTEGER PRIMARY KEY, start, "end", completed, deviceId, contextId, streamId,
  gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread, correlationId, gridId, name);
INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (1, 1500000000000000250, 1500000000000000290, 0, 0, 1, 7, 2, 1, 1, 64, 1, 1, 16, 1, 1, 1),
  (2, 1500000000000000700, 1500000000000000790, 0, 0, 1, 7, 2, 1, 1, 64, 1, 1, 16, 4, 1, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (_id_ INTEGER PRIMARY KEY, copyKind, srcKind, dstKind, flags, bytes, start, "end", deviceId,
  contextId, streamId, correlationId, runtimeCorrelationId);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 3, 1, 0, 64, 1500000000000000530, 1500000000000000540, 0, 1, 7, 3, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (_id_ INTEGER PRIMARY KEY, value, start, "end", bytes, deviceId, contextId, streamId, correlationId, memoryKind);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (1, 0, 1500000000000000550, 1500000000000000560, 32, 0, 1, 7, 9, 3);
CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (_id_ INTEGER PRIMARY KEY, flags, timestamp, id, objectKind, objectId BLOB, name, domain);
INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES
  (1, 2, 1500000000000000000, 1, 2, x'2a000000f9ffffff00000000', 2, 0), (2, 2, 1500000000000000050, 2, 2, x'2a000000f9ffffff00000000', 3, 5),
  (3, 4, 1500000000000000210, 2, 2, x'2a000000f9ffffff00000000', 0, 0), (4, 4, 1500000000000001000, 1, 2, x'2a000000f9ffffff00000000', 0, 0),
  (5, 1, 1500000000000000220, 3, 2, x'2a000000f9ffffff00000000', 2, 0), (6, 4, 1500000000000000230, 77, 2, x'2a000000f9ffffff00000000', 0, 0),
  (7, 2, 1500000000000000900, 8, 2, x'2a000000f9ffffff00000000', 2, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_DEVICE (_id_ INTEGER PRIMARY KEY, id, name, numMultiprocessors, coreClockRate);
INSERT INTO CUPTI_ACTIVITY_KIND_DEVICE VALUES (1, 0, 4, 80, 1530000);
)";

TEST(NvprofImport, CallsAndWorkAreJoinedWhateverTheCallbackId) {
  const auto trace = Database(kProfile).read();
  ASSERT_EQ(trace->processes.size(), 1u);
  EXPECT_EQ(trace->processes[0].pid, 42u);
  EXPECT_EQ(trace->processes[0].format, "nvprof-sqlite");
  ASSERT_EQ(trace->threads.size(), 1u);
  EXPECT_EQ(trace->threads[0].tid, 0xfffffff9u);
  EXPECT_EQ(trace->start_realtime_ns, 1'500'000'000'000'000'000u);
  ASSERT_EQ(trace->host.size(), 4u);
  EXPECT_EQ(trace->api_name(trace->host[0]), "cudaLaunchKernel_v7000");
  EXPECT_EQ(trace->host[0].begin_ns, 100);
  EXPECT_EQ(trace->api_name(trace->host[1]), "runtime cbid 431999");
  EXPECT_EQ(trace->host[2].kind(), HostKind::MemoryLaunch);
  EXPECT_EQ(trace->api_name(trace->host[3]), "cuLaunchKernel");
  ASSERT_EQ(trace->operations.size(), 4u);
  EXPECT_EQ(trace->processes[0].coverage.operations_linked, 3u);  // the memset's call is not in the file
  EXPECT_EQ(KernelNames(*trace).name(trace->operations[0], NameForm::Full), "add(float*)");
  EXPECT_EQ(memory_kind_name(trace->operations[1].detail >> 8 & 0xff), "Device");
  EXPECT_EQ(trace->devices[0].name, "Tesla V100");
}

TEST(NvprofImport, MarkersBecomeRangesOfTheirThread) {
  const auto trace = Database(kProfile).read();
  ASSERT_EQ(trace->ranges.size(), 3u);
  EXPECT_EQ(trace->range_name(trace->ranges[0]), "forward");
  EXPECT_EQ(trace->ranges[0].end_ns, 1000);
  EXPECT_EQ(path_text(*trace, trace->ranges[1].path), "forward/maths:aten::mm, seq = 3");
  EXPECT_TRUE(trace->ranges[2].unfinished);
  ASSERT_EQ(trace->marks.size(), 1u);
  EXPECT_EQ(trace->marks[0].begin_ns, 220);
  ASSERT_EQ(trace->processes[0].damage.size(), 1u);
  EXPECT_NE(trace->processes[0].damage[0].find("1 row skipped: the end of a range whose begin is not in the file"),
            std::string::npos);
}

}  // namespace
}  // namespace prof::analyzer
