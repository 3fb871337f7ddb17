// What is reported for a critical path that leaves the selection, computed by hand.
#include "tests/unit/analyzer/reports/advise/advised_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace prof::analyzer {
namespace {

using tests::AdvisedRun;
using tests::row_text;

TEST(CriticalPath, ASelectionShowsItsPartAndTheRestInOneRow) {
  AdvisedRun run;
  run.device(0, 1);
  run.stream(1, 8);
  run.launched(0, 5, 10, 60, 0, "first");
  run.call("cudaEventRecord", 6, 7, 77);
  run.call("cudaStreamWaitEvent", 8, 9, 78);
  run.sync(SyncKind::StreamWaitEvent, 8, 9, 78, 1, 0);
  run.trace.syncs.back().record_correlation = 77;
  run.launched(10, 12, 65, 80, 1, "second");
  run.finish();
  const auto text = [&] {
    const Table table = run.report(report_critical_path);
    std::string rows;
    for (size_t row = 0; row < table.rows(); ++row) rows += row_text(table, row, {"part", "item", "time"}) + "\n";
    return rows;
  };
  run.selection.devices = {1};
  EXPECT_EQ(text(),
            "not selected | all | 60\nkernel | all | 15\nbetween queued operations | all | 5\nkernel | second | 15\n"
            "between queued operations | second | 5\n");
  run.selection.threads = {501};
  EXPECT_EQ(text(), "not selected | all | 80\n");
}

// One window needs no column; two are enough for one.
TEST(CriticalPath, RowsNameTheirWindowIfThereAreSeveral) {
  for (const int64_t windows : {1, 2, 3}) {
    AdvisedRun run;
    for (int64_t i = 0; i < windows; ++i) {
      run.range("part", 100 * i, 100 * i + 90);
      run.launched(100 * i + 10, 100 * i + 20, 100 * i + 30, 100 * i + 60);
    }
    run.finish();
    run.options.window = "nvtx:part";
    for (const auto report : {report_critical_path, report_what_if}) {
      const Table table = run.report(report);
      const bool named = std::any_of(table.columns().begin(), table.columns().end(),
                                     [](const TableColumn& column) { return column.key == "window"; });
      EXPECT_EQ(named, windows > 1) << windows;
      std::set<std::string> labels;
      for (size_t row = 0; named && row < table.rows(); ++row) labels.insert(tests::cell_text(table, row, "window"));
      EXPECT_EQ(labels.size(), named ? static_cast<size_t>(windows) : 0);
      EXPECT_GT(table.rows(), 0u);
    }
  }
}

// Nothing is known of the second thread before its launch. While the device was idle, the path is divided like the gap.
TEST(CriticalPath, TimeWithoutAnEdgeIsDividedLikeGapsWhereDevicesWereIdle) {
  AdvisedRun run;
  const uint32_t second = run.thread(0, 501);
  run.launched(0, 5, 10, 60, 0, "first");
  run.call("cudaMalloc", 70, 100);
  run.launched(200, 205, 210, 250, 0, "second", second);
  run.finish();
  const Table table = run.report(report_critical_path);
  std::string parts;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (tests::cell_text(table, row, "item") == "all")
      parts += row_text(table, row, {"part", "steps", "time", "all_idle"}) + "\n";
  }
  EXPECT_EQ(parts,
            "outside any call | 2 | 110 | 110\nnot explained | 1 | 50 | 0\nkernel | 1 | 40 | 0\n"
            "other thread: allocation | 1 | 30 | 30\nlaunch call | 2 | 10 | 10\nlaunch latency | 2 | 10 | 10\n");
}

}  // namespace
}  // namespace prof::analyzer
