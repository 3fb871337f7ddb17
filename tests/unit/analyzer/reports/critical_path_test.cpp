// What is reported for a critical path that leaves the selection, computed by hand.
#include "tests/unit/analyzer/reports/advise/advised_run.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace prof::analyzer
