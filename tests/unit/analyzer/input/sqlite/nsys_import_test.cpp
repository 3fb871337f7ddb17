// Exports of Nsight Systems: how each kind of row is imported, small schemas, and invalid rows.
#include "analyzer/model/names.h"
#include "tests/unit/analyzer/input/sqlite/nsys_database.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace prof::analyzer {
namespace {

using tests::all_damage;
using tests::call;
using tests::Database;
using tests::global;
using tests::kernel;
using tests::kSmallSchema;

TEST(NsysImport, EqualCorrelationIdsOfTwoProcessesAreTwoLaunches) {
  const Database db(kSmallSchema);
  call(db, 100, 110, 500, 501, 7);
  call(db, 200, 210, 600, 601, 7);
  kernel(db, 300, 340, 600, 1, 7, 7);  // the second process runs first, on its device 1
  kernel(db, 400, 450, 500, 0, 7, 7);
  const auto trace = db.read();
  ASSERT_EQ(trace->processes.size(), 2u);
  EXPECT_EQ(trace->processes[0].pid, 500u);
  EXPECT_EQ(trace->processes[1].pid, 600u);
  ASSERT_EQ(trace->operations.size(), 2u);
  for (const GpuOperation& operation : trace->operations) {
    ASSERT_TRUE(operation.linked());
    EXPECT_EQ(index(trace->process_of(operation.stream())),
              index(trace->thread(trace->host[operation.launch].thread).process));
  }
  EXPECT_EQ(trace->devices[0].ordinal, 0u);
  EXPECT_EQ(trace->devices[1].ordinal, 1u);
  EXPECT_EQ(trace->operations[0].start_ns, 300);  // time 0 is the first call
  EXPECT_EQ(trace->host[trace->operations[0].launch].begin_ns, 0);
  EXPECT_EQ(all_damage(*trace), "");
}

TEST(NsysImport, OperationsWithoutATimeThatCanBeTrueAreLeftOutAndCounted) {
  const Database db(kSmallSchema);
  for (int i = 0; i < 6; ++i) {
    call(db, 100 + 100 * i, 110 + 100 * i, 500, 501, i + 1);
    kernel(db, i == 4 ? 0 : 150 + 100 * i, i == 4 ? 0 : i == 0 ? 5000 : 190 + 100 * i, 500, 0, 7, i + 1);
  }
  const auto trace = db.read();
  EXPECT_EQ(trace->operations.size(), 4u);
  const Coverage& coverage = trace->processes.at(0).coverage;
  EXPECT_EQ(coverage.operations_unusable[static_cast<size_t>(UnusableTime::NotTimed)], 1u);
  EXPECT_EQ(coverage.operations_unusable[static_cast<size_t>(UnusableTime::Impossible)], 1u);
  EXPECT_EQ(trace->processes[0].partial.size(), 2u);
}

TEST(NsysImport, WorkWithoutAProcessIsOfTheOnlyOneOrOfTheOneWithThatCall) {
  const Database one(
      "CREATE TABLE StringIds (id, value); INSERT INTO StringIds VALUES (2, 'cudaLaunchKernel');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, \"end\", globalTid, correlationId, nameId);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", streamId, correlationId, shortName);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 10, 1, 5, 2);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (20, 30, 7, 5, 2);");
  const auto alone = one.read();
  ASSERT_EQ(alone->processes.size(), 1u);
  EXPECT_TRUE(alone->operations[0].linked());

  one.execute(
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (50, 60, 33554432, 6, 2);"  // pid 2
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (70, 80, 7, 6, 2), (90, 95, 7, 8, 2)");
  const auto two = one.read();
  ASSERT_EQ(two->processes.size(), 3u);
  EXPECT_EQ(two->processes[0].coverage.operations_linked, 1u);
  EXPECT_EQ(two->processes[1].coverage.operations_linked, 1u);
  EXPECT_EQ(two->processes[2].coverage.operations, 1u);
  EXPECT_NE(all_damage(*two).find("1 rows of GPU work do not say of which process"), std::string::npos);
}

TEST(NsysImport, KindsOfCopiesAndMemoryBecomeThoseOfCupti) {
  const Database db(kSmallSchema);
  db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (0,10,0,1,7,1," + global(5) +
             ",4096,1,0,2,NULL,NULL),"
             "(20,30,0,1,7,2," +
             global(5) + ",100,10,2,2,0,3), (40,50,0,1,7,3," + global(5) + ",9,11,7,NULL,NULL,NULL)");
  db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (60,70,0,1,7,4," + global(5) + ",512,4)");
  const auto trace = db.read();
  ASSERT_EQ(trace->operations.size(), 4u);
  const auto copy = [&](size_t i) { return trace->operations[i]; };
  EXPECT_EQ(copy_kind_name(copy(0).detail & 0xff), "HtoD");
  EXPECT_EQ(memory_kind_name(copy(0).detail >> 8 & 0xff), "Pageable");
  EXPECT_EQ(memory_kind_name(copy(0).detail >> 16 & 0xff), "Device");
  EXPECT_EQ(copy(0).bytes, 4096u);
  EXPECT_EQ(copy_kind_name(copy(1).detail & 0xff), "PtoP");
  EXPECT_EQ(copy(1).peer_source, 1u);
  EXPECT_EQ(copy(1).peer_destination, 4u);
  EXPECT_EQ(memory_kind_name(copy(2).detail >> 8 & 0xff), "Unknown");
  EXPECT_EQ(operation_name(KernelNames(*trace), copy(2), NameForm::Short), "[Unified Memory Memcpy HtoD]");
  EXPECT_EQ(copy(3).kind(), GpuKind::Fill);
  EXPECT_EQ(memory_kind_name(copy(3).detail), "Managed");
}

TEST(NsysImport, RangesKeepDomainTextColourAndPayload) {
  const Database db(kSmallSchema);
  const std::string thread = global(5, 6);
  db.execute("INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, " + thread +
             ", 3, NULL, 5, NULL, NULL, NULL, NULL, NULL),"
             "(10, 100, 59, " +
             thread +
             ", 0, 'outer', NULL, 7, 4278190335, NULL, NULL, 1.5),"
             "(20, 50, 59, " +
             thread +
             ", 0, NULL, 4, NULL, NULL, 12, NULL, NULL),"
             "(30, 40, 59, " +
             thread +
             ", 3, 'in maths', NULL, NULL, NULL, NULL, -1, NULL),"
             "(35, NULL, 34, " +
             thread +
             ", 0, 'mark', NULL, NULL, NULL, NULL, NULL, NULL),"
             "(60, NULL, 59, " +
             thread +
             ", 9, 'open', NULL, NULL, NULL, NULL, NULL, NULL),"
             "(15, 300, 60, " +
             thread +
             ", 0, 'start/end', NULL, NULL, NULL, NULL, NULL, NULL),"
             "(15, 300, 99, " +
             thread + ", 0, 'of the future', NULL, NULL, NULL, NULL, NULL, NULL)");
  const auto trace = db.read();
  ASSERT_EQ(trace->ranges.size(), 5u);
  ASSERT_EQ(trace->marks.size(), 1u);
  const Range& outer = trace->ranges[0];
  EXPECT_EQ(trace->range_name(outer), "outer");
  EXPECT_EQ(outer.begin_ns, 0);
  EXPECT_EQ(outer.payload_type, 3);
  double payload = 0;
  std::memcpy(&payload, &outer.payload, sizeof payload);
  EXPECT_EQ(payload, 1.5);
  const Label& label = trace->labels[index(outer.label)];
  EXPECT_TRUE(label.has_color);
  EXPECT_EQ(label.color, 0xff0000ffu);
  EXPECT_EQ(label.category, 7u);
  EXPECT_EQ(trace->range_name(trace->ranges[1]), "registered");
  EXPECT_EQ(trace->ranges[1].payload, 12u);
  EXPECT_EQ(trace->ranges[1].parent, 0u);
  EXPECT_EQ(trace->ranges[1].level, 1u);
  EXPECT_EQ(path_text(*trace, trace->ranges[2].path), "outer/registered/maths:in maths");
  EXPECT_EQ(trace->ranges[2].parent, kNone);  // no range of its domain encloses it
  EXPECT_TRUE(trace->ranges[3].unfinished);
  EXPECT_EQ(trace->ranges[3].end_ns, 290);  // the last row of its thread
  EXPECT_EQ(trace->text(trace->labels[index(trace->ranges[3].label)].domain), "domain 9");
  EXPECT_EQ(trace->ranges[4].style, RangeStyle::StartEnd);
  EXPECT_EQ(path_text(*trace, trace->marks[0].path), "outer/registered/maths:in maths");
  EXPECT_NE(all_damage(*trace).find("NVTX_EVENTS: 1 row skipped: event type 99 is not known"), std::string::npos);
}

TEST(NsysImport, SynchronisationsFindTheirCallAndTheStreamTheyWaitFor) {
  const Database db(kSmallSchema);
  call(db, 0, 90, 5, 6, 11, 7);
  call(db, 100, 190, 5, 6, 12, 7);
  db.execute(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId, contextId, streamId, correlationId, globalPid, eventId, "
      "eventSyncId);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, \"end\", deviceId, contextId, streamId, correlationId, "
      "globalPid, syncType, eventId, eventSyncId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 1, 13, 77, " +
      global(5) +
      ", 40, 900);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (10, 80, 0, 1, 4294967295, 11, " +
      global(5) +
      ", 1, 40, 900),"
      "(110, 180, 0, 1, 7, 12, " +
      global(5) + ", 3, 4294967295, 0)");
  const auto trace = db.read();
  ASSERT_EQ(trace->syncs.size(), 2u);
  const SyncEvent& event = trace->syncs[0];
  EXPECT_EQ(event.kind, SyncKind::Event);
  EXPECT_EQ(event.stream, kNone);
  ASSERT_NE(event.call, kNone);
  EXPECT_EQ(trace->host[event.call].begin_ns, 0);
  ASSERT_NE(event.waits_for, kNone);
  EXPECT_EQ(trace->streams[event.waits_for].number, 13u);
  EXPECT_EQ(event.record_correlation, 77u);
  EXPECT_EQ(trace->streams[trace->syncs[1].stream].number, 7u);
  EXPECT_EQ(trace->host[trace->syncs[1].call].begin_ns, 100);
}

TEST(NsysImport, GraphsAreKnownByNodeOrAsAWhole) {
  const Database db(kSmallSchema);
  call(db, 0, 10, 5, 6, 1);
  db.execute(
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (20,30,0,1,4,7,1," + global(5) +
      ",1,1,1,1,1,1,1,21474836482,2);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, \"end\", deviceId, contextId, streamId, correlationId, "
      "globalPid, graphId, graphExecId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (50, 90, 0, 1, 8, 2, " +
      global(5) + ", 3, 4)");
  const auto trace = db.read();
  ASSERT_EQ(trace->operations.size(), 2u);
  EXPECT_EQ(trace->operations[0].graph_node, uint64_t{5} << 32 | 2);
  EXPECT_EQ(trace->stream(trace->operations[0].stream()).green_context, 4u);
  EXPECT_EQ(trace->kernels[trace->operations[0].detail].launch_type, 1u);  // cooperative, in CUPTI's numbering
  EXPECT_EQ(KernelNames(*trace).name(trace->operations[1], NameForm::Short), "[CUDA graph 3]");
  EXPECT_EQ(trace->operations[1].graph_node, uint64_t{4} << 32);
  EXPECT_EQ(trace->operations[1].kind(), GpuKind::Graph);
  EXPECT_EQ(trace->processes[0].fact("graphs"), "1 launches recorded as a whole: their kernels are not in the file");
}

TEST(NsysImport, NamesOfThreadsProcessesDevicesAndStreams) {
  const Database db(kSmallSchema);
  call(db, 0, 10, 5, 6, 1);
  kernel(db, 20, 30, 5, 0, 7, 1);
  db.execute(
      "CREATE TABLE ThreadNames (nameId, priority, globalTid); INSERT INTO ThreadNames VALUES (6, 20, " + global(5, 6) +
      ");"
      "CREATE TABLE PROCESSES (globalPid, pid, name); INSERT INTO PROCESSES VALUES (" +
      global(5) +
      ", 5, '/bin/app');"
      "CREATE TABLE TARGET_INFO_GPU (id, name, uuid, smCount, clockRate, maxWarpsPerSm, threadsPerWarp);"
      "INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA A', 'u0', 80, 1500000000, 64, 32), (1, 'NVIDIA B', 'u1', 132, "
      "1980000000, 64, 32);"
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid); INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1, 0, 5);"
      "CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId, processId, contextId, priority);"
      "INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (7, 5, 1, 4294967291);"
      "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs); INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES "
      "(1700000000000000000);"
      "CREATE TABLE PROFILER_OVERHEAD (start, \"end\", globalTid, nameId, overheadType);"
      "INSERT INTO PROFILER_OVERHEAD VALUES (-5, 3, " +
      global(5, 9) + ", 8, 3)");
  const auto trace = db.read();
  EXPECT_EQ(trace->start_realtime_ns, 1'699'999'999'999'999'995u);
  EXPECT_EQ(trace->processes[0].executable, "/bin/app");
  EXPECT_EQ(trace->threads[0].name, "worker");
  EXPECT_EQ(trace->devices[0].name, "NVIDIA B");  // the process sees GPU 1 as its device 0
  EXPECT_EQ(trace->devices[0].uuid, "u1");
  const std::vector<std::pair<std::string, uint64_t>> properties = {
      {"warpSize", 32}, {"maxThreadsPerMultiprocessor", 2048}, {"numSms", 132}, {"clockRateHz", 1'980'000'000}};
  EXPECT_EQ(trace->devices[0].properties, properties);
  EXPECT_EQ(trace->streams[0].priority, -5);
  ASSERT_EQ(trace->ranges.size(), 1u);
  EXPECT_EQ(trace->ranges[0].kind, RangeKind::Overhead);
  EXPECT_EQ(trace->range_name(trace->ranges[0]), "Buffer flush");
}

TEST(NsysImport, RowsThatCannotBeAreSetAsideAndCounted) {
  const Database db(kSmallSchema);
  call(db, 0, 10, 5, 6, 1);
  kernel(db, 20, 30, 5, 0, 7, 1);
  const std::string rest = ",0,1,NULL,7,2," + global(5) + ",1,4,1,1,32,1,1,NULL,1)";
  db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('soon', 30" + rest + ", (NULL, 30" + rest + ", (5, NULL" +
             rest + ", (5, 9223372036854775807" + rest + ", ('40', 50.0" + rest + ", (x'00', 3" + rest);
  db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (60, 70, -1, 'x', NULL, 99999999999, 2.5, " + global(5) +
             ",1,'many',1,1,32,1,1,NULL,1)");
  db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 90, " + global(5, 6) + ", 9, 2, 0)");
  const auto trace = db.read();
  EXPECT_EQ(trace->operations.size(), 3u);  // the good one, the one in text and decimals, and the one without a stream
  EXPECT_EQ(trace->processes[0].damage_lost, 6u);
  const std::string damage = all_damage(*trace);
  for (const char* line : {"CUPTI_ACTIVITY_KIND_KERNEL: 3 rows skipped: its begin is no number",
                           "CUPTI_ACTIVITY_KIND_KERNEL: 1 row skipped: its time is out of range",
                           "CUPTI_ACTIVITY_KIND_KERNEL: 1 row skipped: its end is no number",
                           "CUPTI_ACTIVITY_KIND_RUNTIME: 1 row skipped: it ends before it begins",
                           "CUPTI_ACTIVITY_KIND_KERNEL: 1 row with a 'streamId' that is no number in range",
                           "CUPTI_ACTIVITY_KIND_KERNEL: 1 row with a 'correlationId' that is no number in range"}) {
    EXPECT_NE(damage.find(line), std::string::npos) << line << "\nnot in\n" << damage;
  }
}

TEST(NsysImport, ARangeWithoutAnEndEndsWithTheLastActivityOfItsThread) {
  const Database db(kSmallSchema);
  const auto open_range = [&](int begin, int tid, const char* text) {
    db.execute("INSERT INTO NVTX_EVENTS VALUES (" + std::to_string(begin) + ", NULL, 59, " +
               global(5, static_cast<uint64_t>(tid)) + ", 0, '" + text + "', NULL, NULL, NULL, NULL, NULL, NULL)");
  };
  open_range(10, 6, "with calls");
  call(db, 20, 50, 5, 6, 1);
  open_range(100, 6, "after them");
  open_range(30, 7, "other thread");
  call(db, 500, 600, 5, 8, 2);
  kernel(db, 700, 900, 5, 0, 7, 1);
  const auto trace = db.read();
  ASSERT_EQ(trace->ranges.size(), 3u);
  for (const Range& range : trace->ranges) {
    EXPECT_TRUE(range.unfinished);
    const std::string_view name = trace->range_name(range);
    EXPECT_EQ(range.end_ns + 10, name == "other thread" ? 30 : 100) << name;  // the trace begins at 10
  }
}

}  // namespace
}  // namespace prof::analyzer
