// Managed memory in traces of other tools: migrations are copies without a call there.
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace prof::analyzer {
namespace {

constexpr uint32_t kManagedToDevice = 1 | 5 << 8 | 3 << 16, kNsysToHost = 12, kProgramCopy = 1 | 2 << 8 | 3 << 16;

struct ManagedRun : tests::HandTrace {
  explicit ManagedRun(std::string_view format) {
    trace.processes[0].format = format;
    copy(0, 100, 0, 4096, kManagedToDevice);
    copy(200, 250, 0, 8192, kNsysToHost);
    copy(300, 320, 0, 1000, kManagedToDevice);
    copy(400, 430, 0, 77, kProgramCopy);  // a copy of the program whose call is not in the trace
    finish();
  }
};

TEST(UnifiedMemory, MigrationsOfOtherToolsAreCopiesWithoutACall) {
  ManagedRun run("nsys-sqlite");
  const Table table = run.report(report_unified_memory);
  ASSERT_EQ(table.rows(), 2u);
  const auto row = [&](size_t at) {
    return tests::row_text(table, at, {"what", "moved_from", "moved_to", "count", "bytes", "time", "max"});
  };
  EXPECT_EQ(row(0), "migration | CPU | GPU 0 | 2 | 5096 | 120 | 100");
  EXPECT_EQ(row(1), "migration | GPU 0 | CPU | 1 | 8192 | 50 | 50");
  EXPECT_TRUE(table.notes.empty());
}

TEST(UnifiedMemory, TheTotalsOfMigrationsWithoutAddressesHaveNone) {
  ManagedRun run("nsys-sqlite");
  const Table sums = run.report(report_nsys_um_sum);
  ASSERT_EQ(sums.rows(), 1u);
  EXPECT_EQ(sums.columns()[0].cells[0], kEmptyCell);
  const Table totals = run.report(report_nsys_um_total_sum);
  ASSERT_EQ(totals.rows(), 1u);
  EXPECT_EQ(totals.columns()[4].cells[0], kEmptyCell);
  ASSERT_FALSE(totals.notes.empty());
  EXPECT_NE(totals.notes.back().find("does not have the addresses"), std::string::npos);
}

TEST(UnifiedMemory, ACopyOfALogIsNoMigrationAndTheNoteNamesTheOptionOfTheRecorder) {
  ManagedRun run(kProfLogFormat);
  const Table table = run.report(report_unified_memory);
  EXPECT_EQ(table.rows(), 0u);
  ASSERT_EQ(table.notes.size(), 1u);
  EXPECT_NE(table.notes[0].find("PROF_UNIFIED"), std::string::npos);
}

TEST(UnifiedMemory, WithoutALogTheNoteNamesNoOptionOfTheRecorder) {
  tests::HandTrace run;
  run.trace.processes[0].format = "nsys-sqlite";
  run.kernel(0, 10, 0);
  run.finish();
  const Table table = run.report(report_unified_memory);
  ASSERT_EQ(table.notes.size(), 1u);
  EXPECT_EQ(table.notes[0], "nothing about managed memory in the input");
}

}  // namespace
}  // namespace prof::analyzer
