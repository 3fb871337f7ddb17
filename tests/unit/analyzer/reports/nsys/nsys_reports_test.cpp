// The reports with nsys's names: numbers computed by hand from the rows, and layout.
#include "analyzer/base/sink.h"
#include "analyzer/reports/reports.h"
#include "analyzer/table/cell_text.h"
#include "tests/unit/analyzer/input/sqlite/sqlite_database.h"

#include <cmath>
#include <cstdio>

namespace prof::analyzer {
namespace {

using tests::Database;
using tests::shared_file;

Table run_report(const Trace& trace, std::string_view name, const Selection& selection = {}) {
  const Views views(trace);
  const ReportOptions options;
  for (const Report& report : kReports) {
    if (report.name != name) continue;
    Table table = report.run({trace, views, selection, options});
    table.store();
    return table;
  }
  ADD_FAILURE() << "no report " << name;
  return Table("", "");
}

// The cell as in CSV, without units.
std::string cell(const Table& table, size_t row, std::string_view key) {
  for (const TableColumn& column : table.columns()) {
    if (column.key != key) continue;
    if (row >= column.cells.size()) return "no row";
    const int64_t value = column.cells[row];
    if (value == kEmptyCell) return "";
    if (column.type == CellType::Text) return std::string(table.text(value));
    if (!is_real(column.type)) return std::to_string(value);
    char text[64];
    const int decimals = column.type == CellType::Real ? column.decimals : 1;
    std::snprintf(text, sizeof text, "%.*f", decimals, Table::real(value));
    return text;
  }
  return "no column";
}

// One process, one thread (5.6): calls A [0,100), B [200,300), C [1000,1100); kernels of A [50,150) and [400,600), of B
// [500,900) on another stream, of C [1050,1051); a copy without a call. Ranges: outer [0,320), inner [190,310), late
// [950,1050).
constexpr const char* kKernelRows = R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'f'), (2, 'g'), (3, 'cudaLaunchKernel_v7000'), (4, 'cudaLaunchKernelExC_v11060');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, "end", globalTid, correlationId, nameId, returnValue);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 100, 83886086, 1, 3, 0), (200, 300, 83886086, 2, 3, 0), (1000, 1100, 83886086, 3, 4, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, "end", deviceId, contextId, streamId, correlationId, globalPid, shortName, gridX, gridY, gridZ,
  blockX, blockY, blockZ);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50, 150, 0, 1, 7, 1, 83886080, 1, 1, 1, 1, 32, 1, 1), (400, 600, 0, 1, 7, 1, 83886080, 1, 2, 1, 1, 32, 1, 1),
  (500, 900, 0, 1, 8, 2, 83886080, 1, 1, 1, 1, 32, 1, 1), (1050, 1051, 0, 1, 7, 3, 83886080, 2, 1, 1, 1, 32, 1, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, "end", deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1200, 1300, 0, 1, 7, 99, 83886080, 1500000, 1, 1, 2), (1400, 1700, 0, 1, 7, 98, 83886080, 500000, 1, 1, 2);
CREATE TABLE NVTX_EVENTS (start, "end", eventType, globalTid, text);
INSERT INTO NVTX_EVENTS VALUES (0, 320, 59, 83886086, 'outer'), (190, 310, 59, 83886086, 'inner'), (950, 1050, 59, 83886086, 'late'),
  (0, 1150, 60, 83886086, 'all'), (0, 1150, 60, 83886087, 'other thread');
)";

TEST(NsysReports, SumsCountOverlapTwiceAndMediansOfTwoAreMeans) {
  const Database db(kKernelRows);
  const auto trace = db.read();
  const Table kernels = run_report(*trace, "cuda_gpu_kern_sum");
  ASSERT_EQ(kernels.rows(), 2u);
  EXPECT_EQ(cell(kernels, 0, "name"), "f");
  EXPECT_EQ(cell(kernels, 0, "total_time"), "700");  // 100 + 200 + 400; together they cover 600
  EXPECT_EQ(cell(kernels, 0, "time_percent"), "99.9");
  EXPECT_EQ(cell(kernels, 0, "instances"), "3");
  EXPECT_EQ(cell(kernels, 0, "avg"), "233.3");
  EXPECT_EQ(cell(kernels, 0, "med"), "200.0");
  EXPECT_EQ(cell(kernels, 0, "min"), "100");
  EXPECT_EQ(cell(kernels, 0, "max"), "400");
  EXPECT_EQ(cell(kernels, 0, "stddev"), "152.8");  // sqrt((133.3² + 33.3² + 166.7²) / 2)
  EXPECT_EQ(cell(kernels, 1, "stddev"), "0.0");
  const Table copies = run_report(*trace, "cuda_gpu_mem_time_sum");
  EXPECT_EQ(cell(copies, 0, "med"), "200.0");
  EXPECT_EQ(cell(copies, 0, "stddev"), "141.4");
  EXPECT_EQ(cell(copies, 0, "operation"), "[CUDA memcpy Host-to-Device]");
  const Table sizes = run_report(*trace, "cuda_gpu_mem_size_sum");
  EXPECT_EQ(cell(sizes, 0, "total_mb"), "2.000");
  EXPECT_EQ(cell(sizes, 0, "avg_mb"), "1.000");
  EXPECT_EQ(cell(sizes, 0, "stddev_mb"), "0.707");
  const Table shapes = run_report(*trace, "cuda_gpu_kern_gb_sum");
  ASSERT_EQ(shapes.rows(), 3u);
  EXPECT_EQ(cell(shapes, 0, "total_time"), "500");
  EXPECT_EQ(cell(shapes, 0, "grid"), "   1    1    1");
  const Table all = run_report(*trace, "cuda_gpu_sum");
  EXPECT_EQ(cell(all, 0, "category"), "CUDA_KERNEL");
  EXPECT_EQ(cell(all, 1, "category"), "MEMORY_OPER");
  EXPECT_EQ(cell(all, 1, "time_percent"), "36.3");  // 400 of 1101
}

TEST(NsysReports, FourDigitVersionsAreTakenOffCallsOthersStay) {
  const Database db(kKernelRows);
  const auto trace = db.read();
  const Table calls = run_report(*trace, "cuda_api_sum");
  ASSERT_EQ(calls.rows(), 2u);
  EXPECT_EQ(cell(calls, 0, "name"), "cudaLaunchKernel");
  EXPECT_EQ(cell(calls, 0, "num_calls"), "2");
  EXPECT_EQ(cell(calls, 1, "name"), "cudaLaunchKernelExC_v11060");
}

TEST(NsysReports, KernelsThatStartBeforeTheirCallEndsHaveNoQueueTime) {
  const Database db(kKernelRows);
  const auto trace = db.read();
  const Table sum = run_report(*trace, "cuda_kern_exec_sum");
  ASSERT_EQ(sum.rows(), 2u);
  EXPECT_EQ(cell(sum, 0, "count"), "3");
  EXPECT_EQ(cell(sum, 0, "queue_count"), "2");    // [50,150) started inside its call
  EXPECT_EQ(cell(sum, 0, "queue_avg"), "250.0");  // 400 − 100 and 500 − 300
  EXPECT_EQ(cell(sum, 0, "total_avg"), "483.3");  // 150, 600 and 700
  EXPECT_EQ(cell(sum, 0, "api_avg"), "100.0");
  EXPECT_EQ(cell(sum, 1, "queue_count"), "0");
  EXPECT_EQ(cell(sum, 1, "queue_avg"), "");
  EXPECT_EQ(cell(sum, 1, "total_avg"), "100.0");  // the call ended after the kernel
  const Table rows = run_report(*trace, "cuda_kern_exec_trace");
  ASSERT_EQ(rows.rows(), 4u);
  EXPECT_EQ(cell(rows, 0, "queue_start"), "");
  EXPECT_EQ(cell(rows, 1, "queue_start"), "100");
  EXPECT_EQ(cell(rows, 1, "queue_duration"), "300");
}

TEST(NsysReports, ProjectionsReachFromTheFirstToTheLastOperationOfCallsInside) {
  const Database db(kKernelRows);
  const auto trace = db.read();
  const Table sum = run_report(*trace, "nvtx_gpu_proj_sum");
  ASSERT_EQ(sum.rows(), 3u);  // "late" contains no whole call, "other thread" none at all
  EXPECT_EQ(cell(sum, 0, "range"), ":all");
  EXPECT_EQ(cell(sum, 0, "style"), "StartEnd");
  EXPECT_EQ(cell(sum, 0, "total_projected"), "1001");  // [50, 1051), gaps included
  EXPECT_EQ(cell(sum, 0, "total_operations"), "4");
  EXPECT_EQ(cell(sum, 1, "range"), ":outer");
  EXPECT_EQ(cell(sum, 1, "total_projected"), "850");  // [50, 900)
  EXPECT_EQ(cell(sum, 1, "total_range"), "320");
  EXPECT_EQ(cell(sum, 1, "avg_children"), "1.0");
  EXPECT_EQ(cell(sum, 2, "range"), ":inner");
  EXPECT_EQ(cell(sum, 2, "total_projected"), "400");
  EXPECT_EQ(cell(sum, 2, "avg_level"), "1.0");
  const Table rows = run_report(*trace, "nvtx_gpu_proj_trace");
  ASSERT_EQ(rows.rows(), 3u);
  EXPECT_EQ(cell(rows, 2, "name"), ":inner");
  EXPECT_EQ(cell(rows, 2, "projected_start"), "500");
  EXPECT_EQ(cell(rows, 2, "range_stack"), ":1:2");
  const Table kernels = run_report(*trace, "nvtx_kern_sum");
  ASSERT_EQ(kernels.rows(), 4u);  // all: f and g; outer: f; inner: f
  EXPECT_EQ(cell(kernels, 2, "range"), ":inner");
  EXPECT_EQ(cell(kernels, 2, "total_time"), "400");
  EXPECT_EQ(cell(kernels, 0, "kernel_instances"), "3");
  EXPECT_EQ(cell(kernels, 0, "range_instances"), "1");
}

TEST(NsysReports, RangesOfOneTextAreOneLineAndTextsKeepTheirNumbers) {
  const Database db(kKernelRows);
  db.execute(
      "INSERT INTO NVTX_EVENTS VALUES (330, 340, 59, 83886086, 'op, seq = 1'), (341, 351, 59, 83886086, 'op, seq = 2'),"
      "(352, 382, 59, 83886086, 'outer')");
  const auto trace = db.read();
  const Table sum = run_report(*trace, "nvtx_pushpop_sum");
  ASSERT_EQ(sum.rows(), 5u);
  EXPECT_EQ(cell(sum, 0, "range"), ":outer");
  EXPECT_EQ(cell(sum, 0, "total_time"), "350");
  EXPECT_EQ(cell(sum, 0, "instances"), "2");
  EXPECT_EQ(run_report(*trace, "nvtx_startend_sum").rows(), 2u);
  EXPECT_EQ(run_report(*trace, "nvtx_sum").rows(), 7u);
  const Table rows = run_report(*trace, "nvtx_pushpop_trace");
  EXPECT_EQ(cell(rows, 0, "children_duration"), "120");
  EXPECT_EQ(cell(rows, 0, "self_duration"), "200");
  EXPECT_EQ(cell(rows, 1, "name_tree"), "--:inner");
}

TEST(NsysReports, KernelsOutsideAllRangesHaveALineWithoutRange) {
  const Database db(kKernelRows);
  db.execute("DELETE FROM NVTX_EVENTS WHERE text IN ('all', 'inner', 'other thread')");
  const auto trace = db.read();
  const Table kernels = run_report(*trace, "nvtx_kern_sum");
  ASSERT_EQ(kernels.rows(), 2u);  // outer: f; outside: g
  EXPECT_EQ(cell(kernels, 0, "range"), ":outer");
  EXPECT_EQ(cell(kernels, 0, "kernel_instances"), "3");
  for (const char* const key : {"range", "style", "range_instances"}) EXPECT_EQ(cell(kernels, 1, key), "") << key;
  EXPECT_EQ(cell(kernels, 1, "pid"), "5");
  EXPECT_EQ(cell(kernels, 1, "tid"), "6");
  EXPECT_EQ(cell(kernels, 1, "kernel_instances"), "1");
  EXPECT_EQ(cell(kernels, 1, "total_time"), "1");
  EXPECT_EQ(cell(kernels, 1, "kernel_name"), "g");
  EXPECT_TRUE(kernels.notes.empty());
}

TEST(NsysReports, WithoutRangesEveryKernelIsOutside) {
  const Database db(kKernelRows);
  db.execute("DELETE FROM NVTX_EVENTS");
  const Table kernels = run_report(*db.read(), "nvtx_kern_sum");
  ASSERT_EQ(kernels.rows(), 2u);
  EXPECT_EQ(cell(kernels, 0, "kernel_instances"), "3");
}

TEST(NsysReports, TimesCountFromTheStartOfTheSession) {
  const Database db(kKernelRows);
  db.execute(
      "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = start + 5000, \"end\" = \"end\" + 5000;"
      "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start + 5000, \"end\" = \"end\" + 5000;"
      "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET start = start + 5000, \"end\" = \"end\" + 5000;"
      "UPDATE NVTX_EVENTS SET start = start + 5000, \"end\" = \"end\" + 5000;"
      "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs);"
      "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000)");
  const auto trace = db.read();
  EXPECT_EQ(cell(run_report(*trace, "cuda_api_trace"), 1, "start"), "5200");
  EXPECT_EQ(cell(run_report(*trace, "cuda_gpu_trace"), 0, "start"), "5050");
  const Table executions = run_report(*trace, "cuda_kern_exec_trace");
  EXPECT_EQ(cell(executions, 1, "api_start"), "5000");
  EXPECT_EQ(cell(executions, 1, "queue_start"), "5100");
  EXPECT_EQ(cell(executions, 1, "kernel_start"), "5400");
  const Table ranges = run_report(*trace, "nvtx_pushpop_trace");
  EXPECT_EQ(cell(ranges, 1, "start"), "5190");
  EXPECT_EQ(cell(ranges, 1, "end"), "5310");
  const Table projected = run_report(*trace, "nvtx_gpu_proj_trace");
  EXPECT_EQ(cell(projected, 2, "projected_start"), "5500");
  EXPECT_EQ(cell(projected, 2, "start"), "5190");
  EXPECT_EQ(ranges.notes.front(),
            "times count from the session's start, as in nsys: 5.0000us more than from the trace's zero, from which "
            "--from and --to count");
  EXPECT_EQ(trace->operations[0].start_ns, 50);
}

// NVIDIA's demangler writes other texts than the C++ runtime's.
TEST(NsysReports, KernelsHaveTheNamesThatTheExportHas) {
  const Database db(
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "INSERT INTO StringIds VALUES (1, '_ZN12_GLOBAL__N_11fILi4EEEvPKfm'),"
      "(2, 'void <unnamed>::f<(int)4>(const float *, unsigned long)'), (3, 'f'), (4, 'cudaLaunchKernel_v7000');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, \"end\", globalTid, correlationId, nameId, returnValue);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 100, 83886086, 1, 4, 0);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", deviceId, contextId, streamId, correlationId, "
      "globalPid,"
      " mangledName, demangledName, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50, 150, 0, 1, 7, 1, 83886080, 1, 2, 3, 1, 1, 1, 32, 1, 1)");
  const auto trace = db.read();
  constexpr std::string_view kNvidia = "void <unnamed>::f<(int)4>(const float *, unsigned long)";
  for (const auto& [report, key] :
       std::initializer_list<std::pair<const char*, const char*>>{{"cuda_gpu_kern_sum", "name"},
                                                                  {"cuda_gpu_kern_gb_sum", "name"},
                                                                  {"cuda_gpu_sum", "operation"},
                                                                  {"cuda_api_gpu_sum", "operation"},
                                                                  {"cuda_gpu_trace", "name"},
                                                                  {"cuda_kern_exec_sum", "kernel_name"},
                                                                  {"cuda_kern_exec_trace", "kernel_name"},
                                                                  {"nvtx_kern_sum", "kernel_name"}}) {
    const Table table = run_report(*trace, report);
    bool found = false;
    for (size_t row = 0; row < table.rows(); ++row) found = found || cell(table, row, key) == kNvidia;
    EXPECT_TRUE(found) << report;
  }
  const Views views(*trace);
  EXPECT_EQ(views.names().name(trace->operations[0], NameForm::Full),
            "void (anonymous namespace)::f<4>(float const*, unsigned long)");
}

TEST(NsysReports, PrioritiesAreThoseOfTheNamedThreads) {
  const Database db(kKernelRows);
  db.execute(
      "CREATE TABLE ThreadNames (nameId, priority, globalTid);"
      "INSERT INTO ThreadNames VALUES (1, -5, 83886086), (2, NULL, 83886087)");
  const Table calls = run_report(*db.read(), "cuda_api_trace");
  EXPECT_EQ(cell(calls, 0, "thread_priority"), "-5");
  EXPECT_EQ(cell(calls, 0, "thread_name"), "f");
  EXPECT_EQ(cell(run_report(*Database(kKernelRows).read(), "cuda_api_trace"), 0, "thread_priority"), "");
}

// Ranges of two domains on one thread: a [0,100) with b [10,90) of another domain, which contains c [20,30) of the
// first one and d [30,40).
TEST(NsysReports, RangesNestByTimeOnTheirThreadAcrossDomains) {
  const Database db(
      "CREATE TABLE StringIds (id, value);"
      "CREATE TABLE NVTX_EVENTS (start, \"end\", eventType, globalTid, domainId, text);"
      "INSERT INTO NVTX_EVENTS VALUES (0, 0, 75, 83886086, 1, 'lib'), (0, 100, 59, 83886086, 0, 'a'),"
      "(10, 90, 59, 83886086, 1, 'b'), (20, 30, 59, 83886086, 0, 'c'), (30, 40, 59, 83886086, 1, 'd'),"
      "(20, 30, 59, 83886087, 0, 'e')");
  const Table rows = run_report(*db.read(), "nvtx_pushpop_trace");
  ASSERT_EQ(rows.rows(), 5u);
  std::string text;
  for (size_t row = 0; row < 5; ++row) {
    text += cell(rows, row, "name_tree") + " " + cell(rows, row, "level") + " " + cell(rows, row, "children") + " " +
            cell(rows, row, "children_duration") + "; ";
  }
  EXPECT_EQ(text, ":a 0 1 80; --lib:b 1 2 20; ----:c 2 0 0; :e 0 0 0; ----lib:d 2 0 0; ");
}

TEST(NsysReports, ARangeThatAnotherThreadClosesHasNoProjection) {
  const Database db(kKernelRows);
  db.execute(
      "ALTER TABLE NVTX_EVENTS ADD COLUMN endGlobalTid; UPDATE NVTX_EVENTS SET endGlobalTid = 83886087 WHERE text = "
      "'all'");
  const Table sum = run_report(*db.read(), "nvtx_gpu_proj_sum");
  ASSERT_EQ(sum.rows(), 2u);
  EXPECT_EQ(cell(sum, 0, "range"), ":outer");
}

TEST(NsysText, TiesRoundAwayFromZero) {
  Table table("cuda_gpu_kern_sum", "");
  table.nsys_look = true;
  table.add_columns({ColumnId::nsys_avg, ColumnId::nsys_time_percent, ColumnId::nsys_bytes_mb});
  table.row().add(0.25).add(0.15).add(0.0005);
  table.row().add(1000.75).add(2.25).add(1.0005);
  table.row().add(0.2499).add(99.949999).add(0.00049);
  std::string text;
  Sink sink(&text);
  write_table(table, TableFormat::Csv, TimeUnit::Ns, sink);
  sink.close();
  EXPECT_EQ(text, "Avg (ns),Time (%),Bytes (MB)\n0.3,0.2,0.001\n1000.8,2.3,1.001\n0.2,99.9,0.000\n");
}

// A device that is busy [0,1ms), [700ms,701ms) and [3000ms,3001ms); in between the profiler itself is busy
// [1000ms,2000ms).
TEST(NsysReports, GapsOfHalfASecondLessTheProfilersOwnTime) {
  const Database db(
      "CREATE TABLE StringIds (id, value);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", deviceId, contextId, streamId, globalPid);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 1000000, 2, 1, 7, 83886080), (700000000, 701000000, 2, 1, 8, "
      "83886080),"
      "(3000000000, 3001000000, 2, 1, 7, 83886080);"
      "CREATE TABLE PROFILER_OVERHEAD (start, \"end\", globalTid, nameId);"
      "INSERT INTO PROFILER_OVERHEAD VALUES (1000000000, 2000000000, 83886086, 1);");
  const auto trace = db.read();
  const Table gaps = run_report(*trace, "gpu_gaps");
  ASSERT_EQ(gaps.rows(), 2u);  // [701ms,1000ms) is too short
  EXPECT_EQ(cell(gaps, 0, "duration"), "1000000000");
  EXPECT_EQ(cell(gaps, 0, "start"), "2000000000");
  EXPECT_EQ(cell(gaps, 1, "duration"), "699000000");
  EXPECT_EQ(cell(gaps, 1, "device"), "2");
  const Table parts = run_report(*trace, "gpu_time_util");
  ASSERT_EQ(parts.rows(), 30u);  // 100 ms each, none used for more than 1 %
  EXPECT_EQ(cell(parts, 0, "in_use_percent"), "0.0");
  EXPECT_EQ(cell(parts, 29, "in_use_percent"), "1.0");
}

TEST(NsysReports, AnEmptyTraceGivesEveryTableWithoutRows) {
  const Database db("CREATE TABLE StringIds (id, value); CREATE TABLE NVTX_EVENTS (start, \"end\", eventType)");
  const auto trace = db.read();
  for (const Report& report : kReports) {
    if (!report.question.starts_with("nsys: ")) continue;
    const Table table = run_report(*trace, report.name);
    EXPECT_EQ(table.rows(), 0u) << report.name;
    EXPECT_EQ(table.name(), report.name);
    EXPECT_TRUE(table.nsys_look);
    EXPECT_FALSE(table.notes.empty()) << report.name;
  }
}

TEST(NsysReports, SharedTracesGiveTheKnownSums) {
  const std::string two = shared_file("nsys/mfu_2gpu_before.sqlite");
  if (two.empty()) GTEST_SKIP() << "the shared traces are not there";
  const auto trace = read_trace(std::vector<std::string>{two}, {});
  // SELECT sum("end" - start), count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL, and the same of RUNTIME and NVTX_EVENTS.
  const auto sum = [&](std::string_view report, std::string_view column, std::string_view count) {
    const Table table = run_report(*trace, report);
    int64_t total = 0, rows = 0;
    for (size_t row = 0; row < table.rows(); ++row) {
      total += std::stoll(cell(table, row, column));
      rows += std::stoll(cell(table, row, count));
    }
    return std::pair(total, rows);
  };
  EXPECT_EQ(sum("cuda_gpu_kern_sum", "total_time", "instances"), std::pair(int64_t{535'200'650}, int64_t{4010}));
  EXPECT_EQ(sum("cuda_api_sum", "total_time", "num_calls"), std::pair(int64_t{370'168'989}, int64_t{7466}));
  EXPECT_EQ(sum("nvtx_sum", "total_time", "instances"), std::pair(int64_t{1'403'779'266}, int64_t{19118}));
}

std::string with_commas(std::string_view number) {
  char text[64] = {};
  number.copy(text, number.size());
  return {text, put_commas(text, number.size())};
}

TEST(NsysText, NumbersHaveCommas) {
  EXPECT_EQ(with_commas("1234567.5"), "1,234,567.5");
  EXPECT_EQ(with_commas("-123"), "-123");
  EXPECT_EQ(with_commas("-1234"), "-1,234");
  EXPECT_EQ(with_commas("999"), "999");
  EXPECT_EQ(with_commas("0.1234"), "0.1234");
  EXPECT_EQ(with_commas("-9223372036854775807"), "-9,223,372,036,854,775,807");
  EXPECT_EQ(with_commas(""), "");
}

}  // namespace
}  // namespace prof::analyzer
