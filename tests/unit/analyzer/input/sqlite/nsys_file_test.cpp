// Exports of Nsight Systems as files: foreign, packed, empty, cut, locked or still being written, and exports of real
// runs.
#include "analyzer/base/input_error.h"
#include "analyzer/base/intervals.h"
#include "analyzer/input/sqlite/sqlite_reader.h"
#include "tests/unit/analyzer/input/sqlite/nsys_database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::all_damage;
using tests::call;
using tests::Database;
using tests::error_of;
using tests::global;
using tests::kSmallSchema;
using tests::shared_file;

TEST(NsysImport, ForeignEmptyAndPackedDatabasesAreExactErrors) {
  EXPECT_NE(error_of(Database("CREATE TABLE bookmarks (url)"))
                .find("neither an export of Nsight Systems nor a profile of nvprof: its tables are bookmarks"),
            std::string::npos);
  EXPECT_NE(error_of(Database("PRAGMA user_version = 1")).find("it has no tables"), std::string::npos);
  const Database header;
  header.set_bytes(std::string("SQLite format 3\0", 16) + std::string(200, 'x'));
  EXPECT_NE(error_of(header).find("list of tables cannot be read"), std::string::npos);
  const Database packed(kSmallSchema);
  const std::string bytes = packed.bytes();
  const gzFile file = gzopen(packed.path().c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  EXPECT_NE(error_of(packed).find("packed with gzip: unpack it first"), std::string::npos);
}

TEST(NsysImport, TablesWithAVersionAreReadByTheirColumns) {
  const Database db(kSmallSchema);
  call(db, 0, 10, 5, 6, 1);
  db.execute("INSERT INTO NVTX_EVENTS (start, \"end\", eventType, globalTid, text) VALUES (1, 9, 59, " + global(5, 6) +
             ", 'step')");
  db.execute(
      "ALTER TABLE NVTX_EVENTS RENAME TO NVTX_EVENTS_V3; ALTER TABLE StringIds RENAME TO StringIds_V2;"
      "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME RENAME TO CUPTI_ACTIVITY_KIND_RUNTIME_V12;"
      "CREATE TABLE NVTX_EVENTS (start, \"end\"); CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME_V13 (start);");
  const auto trace = db.read();
  ASSERT_EQ(trace->ranges.size(), 1u);
  EXPECT_EQ(trace->range_name(trace->ranges[0]), "step");
  ASSERT_EQ(trace->host.size(), 1u);
  EXPECT_EQ(trace->api_name(trace->host[0]), "cudaLaunchKernel_v7000");
  EXPECT_EQ(all_damage(*trace), "");
}

TEST(NsysImport, AnOlderVersionWithRowsOfItsOwnIsNamed) {
  const Database db(kSmallSchema);
  const std::string row =
      " (start, \"end\", eventType, globalTid, text) VALUES (1, 9, 59, " + global(5, 6) + ", 'step')";
  db.execute("INSERT INTO NVTX_EVENTS" + row + "; CREATE TABLE NVTX_EVENTS_V2 AS SELECT * FROM NVTX_EVENTS");
  const auto trace = db.read();
  EXPECT_EQ(trace->ranges.size(), 1u) << "rows of two versions are not added";
  EXPECT_TRUE(trace->processes[0].partial.at(0).ends_with("not read: NVTX_EVENTS"));
}

TEST(NsysImport, UnknownTablesWithEventsMakeItPartialAndThoseOfOtherSubjectsAreAFact) {
  const Database db(kSmallSchema);
  call(db, 0, 10, 5, 6, 1);
  db.execute(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_NEW (start, \"end\"); INSERT INTO CUPTI_ACTIVITY_KIND_NEW VALUES (1, 2);"
      "CREATE TABLE EMPTY_EVENTS (start); CREATE TABLE NAMES_ONLY (id); INSERT INTO NAMES_ONLY VALUES (1);"
      "CREATE TABLE OSRT_API (start, \"end\"); INSERT INTO OSRT_API VALUES (1, 2);"
      "CREATE TABLE OSRT_API_V2 (start, \"end\"); INSERT INTO OSRT_API_V2 VALUES (1, 2);");
  const auto trace = db.read();
  EXPECT_EQ(trace->processes[0].partial.at(0),
            "tables with events that are not known here, not read: CUPTI_ACTIVITY_KIND_NEW");
  EXPECT_EQ(trace->processes[0].fact("tables not read"), "OSRT_API, OSRT_API_V2");
}

TEST(NsysImport, ATextThatIsTooLongCostsItsRow) {
  const Database db(
      "CREATE TABLE T (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO T VALUES (1, 'a'), (4, printf('%.*c', 5000, "
      "'x')),"
      "(5, printf('%.*c', 5000, 'y')), (9, 'b')");
  const SqliteFile file(db.path(), 1000);
  SqliteRows rows(file, "T", {"id", "value"});
  std::string read;
  while (rows.next()) read += std::string(rows.text(1)) + std::to_string(rows.integer_or(0, 0));
  EXPECT_EQ(read, "a1b9");
  ASSERT_EQ(rows.problems().size(), 1u);
  EXPECT_EQ(rows.problems()[0], "T: 2 rows skipped: a text in it is longer than 1000 bytes (the first is row 4)");
  EXPECT_EQ(rows.rows_lost(), 2u);
}

TEST(NsysImport, AnExportWithoutEventsIsAnEmptyTrace) {
  const auto trace = Database(kSmallSchema).read();
  ASSERT_EQ(trace->processes.size(), 1u);
  EXPECT_EQ(trace->processes[0].fact("contents"), "no CUDA calls, GPU work or NVTX ranges");
  EXPECT_EQ(all_damage(*trace), "");
}

TEST(NsysImport, ACutFileGivesTheRowsBeforeTheCut) {
  const Database db(kSmallSchema);
  std::string rows;
  for (int i = 0; i < 2000; ++i)
    rows += (i == 0 ? "(" : ",(") + std::to_string(20 * i) + "," + std::to_string(20 * i + 10) + ",0,1,NULL,7,1," +
            global(5) + ",1,4,1,1,32,1,1,NULL,1)";
  db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES " + rows);
  const std::string whole = db.bytes();
  ASSERT_EQ(db.read()->operations.size(), 2000u);
  db.set_bytes(whole.substr(0, whole.size() - 20000));
  const auto cut = db.read();
  EXPECT_GT(cut->operations.size(), 100u);
  EXPECT_LT(cut->operations.size(), 2000u);
  EXPECT_NE(all_damage(*cut).find("the rest of the table is not read"), std::string::npos);
  for (size_t size = 16; size < whole.size(); size += 1777) {
    db.set_bytes(whole.substr(0, size));
    try {
      EXPECT_LE(db.read()->operations.size(), 2000u);
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(db.path()), std::string::npos);
    }
  }
}

TEST(NsysImport, ViewsAreNotRun) {
  const Database db(
      "CREATE TABLE StringIds (id, value); CREATE TABLE NVTX_EVENTS (start, \"end\", eventType, globalTid, text);"
      "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start FROM n) "
      "SELECT * FROM n");
  EXPECT_EQ(db.read()->operations.size(), 0u);
}

TEST(NsysImport, ChangesThatAreOnlyInTheWriteAheadLogAreMissedAndSaidToBe) {
  const Database db(kSmallSchema);
  std::ofstream(db.path() + "-wal") << "changes";
  EXPECT_NE(all_damage(*db.read()).find("-wal has changes that are not in the file yet"), std::string::npos);
  std::filesystem::remove(db.path() + "-wal");
}

TEST(NsysImport, ALockedFileIsReadAllTheSame) {
  const Database db(kSmallSchema);
  call(db, 0, 10, 5, 6, 1);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(db.path().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(db.read()->host.size(), 1u);
  sqlite3_close(other);
}

TEST(NsysImport, SharedTracesHaveTheirKnownFigures) {
  const std::string mock = shared_file("nsys/mock.sqlite"), two = shared_file("nsys/mfu_2gpu_before.sqlite"),
                    small = shared_file("nsys/healthy_1pct.sqlite");
  if (mock.empty() || two.empty() || small.empty()) GTEST_SKIP() << "the shared traces are not there";
  const auto read = [](const std::string& path) { return read_trace(std::vector<std::string>{path}, {}); };
  int64_t kernel_ns = 0, copy_ns = 0;
  for (const auto trace = read(mock); const GpuOperation& operation : trace->operations)
    (operation.kind() == GpuKind::Kernel ? kernel_ns : copy_ns) += operation.duration_ns();
  EXPECT_EQ(kernel_ns, 4129);
  EXPECT_EQ(copy_ns, 1632);

  const auto trace = read(two);
  EXPECT_EQ(trace->processes.size(), 2u);
  EXPECT_EQ(trace->devices.size(), 2u);
  std::vector<uint32_t> ids[2];
  for (const GpuOperation& operation : trace->operations) {
    if (operation.kind() == GpuKind::Kernel)
      ids[index(trace->process_of(operation.stream()))].push_back(operation.correlation);
  }
  std::vector<uint32_t> common;
  for (std::vector<uint32_t>& each : ids) {
    std::sort(each.begin(), each.end());
    each.erase(std::unique(each.begin(), each.end()), each.end());
  }
  std::set_intersection(ids[0].begin(), ids[0].end(), ids[1].begin(), ids[1].end(), std::back_inserter(common));
  EXPECT_EQ(common.size(), 78u);
  for (const GpuOperation& operation : trace->operations) {
    if (!operation.linked()) continue;
    const HostEvent& launch = trace->host[operation.launch];
    EXPECT_EQ(launch.correlation, operation.correlation);
    EXPECT_EQ(index(trace->thread(launch.thread).process), index(trace->process_of(operation.stream())));
  }
  for (const Device& device : trace->devices) {
    if (device.ordinal != 0) continue;
    std::vector<Interval> all;
    int64_t overlap_ns = 0;
    for (const Stream& stream : trace->streams) {
      if (&trace->device(stream.device) != &device) continue;
      std::vector<Interval> kernels;
      int64_t sum_ns = 0;
      for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
        const GpuOperation& operation = trace->operations[row];
        all.push_back({operation.start_ns, operation.end_ns});
        if (operation.kind() != GpuKind::Kernel) continue;
        kernels.push_back(all.back());
        sum_ns += operation.duration_ns();
      }
      overlap_ns += sum_ns - IntervalSet(kernels).length_ns();
    }
    EXPECT_EQ(IntervalSet(all).length_ns(), 273'817'787);
    EXPECT_EQ(overlap_ns, 12'442);
  }
  const auto healthy = read(small);
  EXPECT_EQ(healthy->processes[0].coverage.operations_linked, 400u);
}

}  // namespace
}  // namespace prof::analyzer
