// Rows of what-if on runs of a few calls, computed by hand.
#include "tests/unit/analyzer/reports/advise/advised_run.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace prof::analyzer {
namespace {

using tests::AdvisedRun;
using tests::launch_bound_loop;
using tests::row_text;

// What-if rows as "saved | own_time | count", where saved is without what rests on assumptions.
std::string what_if(AdvisedRun& run, std::string_view item, std::string_view name) {
  const Table table = run.report(report_what_if);
  for (size_t row = 0; row < table.rows(); ++row) {
    if (tests::cell_text(table, row, "item") == item && tests::cell_text(table, row, "name") == name)
      return AdvisedRun::known(table, row) + " | " + row_text(table, row, {"own_time", "count"});
  }
  return "";
}

TEST(WhatIf, RowsAreWhatIsLeftWithoutTheirItem) {
  AdvisedRun run;
  launch_bound_loop(run, 3);
  run.finish();  // wall 295
  EXPECT_EQ(what_if(run, "launch calls", "all"), "240 | 240 | 3");
  EXPECT_EQ(what_if(run, "launch latency", "all"), "5 | 15 | 3") << "only the last one's is on the path";
  EXPECT_EQ(what_if(run, "launch calls, latency and delays", "all (as in one CUDA graph)"), "245 | 255 | 6");
  EXPECT_EQ(what_if(run, "host work outside CUDA calls", "all"), "40 | 40 | 2");
  EXPECT_EQ(what_if(run, "kernel", "kernel"), "10 | 30 | 3") << "only the last one's is on the path";
  EXPECT_EQ(what_if(run, "synchronisation", "all"), "") << "there is none";
}

TEST(WhatIf, TheSameTimeInGapsOfTwoDevicesCountsOnce) {
  AdvisedRun run;
  run.device(0, 1);
  run.stream(1, 8);
  run.launched(0, 5, 10, 20, 0);
  run.launched(6, 8, 10, 20, 1);
  run.range("work", 20, 100);
  run.launched(100, 105, 110, 120, 0);
  run.launched(106, 108, 112, 120, 1);
  run.finish();
  EXPECT_EQ(what_if(run, "host work while a device was idle", "in an op"), "80 | 80 | 1");
}

TEST(WhatIf, SaysHowMuchOfWhatIsSavedRestsOnAssumptions) {
  AdvisedRun run;
  launch_bound_loop(run, 3);
  run.finish();
  const Table table = run.report(report_what_if);
  std::string kernels;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (tests::cell_text(table, row, "item") == "kernel")
      kernels = row_text(table, row, {"saved", "new_wall", "assumed"});
  }
  EXPECT_EQ(kernels, "30 | 265 | 20") << "the thread may have waited for the kernels that ended between its calls";
}

// A GPU copies in both directions at once and next to other GPUs, but one direction of one GPU is a single engine.
TEST(WhatIf, CopiesThatOverlapAllElseTakeTheTimeOfOneDirectionOfOneDevice) {
  AdvisedRun run;
  run.device(0, 1);
  run.stream(1, 8);
  const auto copied = [&](int64_t begin, int64_t start, int64_t stop, uint32_t kind, uint32_t stream) {
    run.call("cudaMemcpyAsync", begin, begin + 2, ++run.next_id);
    run.copy(start, stop, run.next_id, 64, kind, stream);
  };
  copied(0, 10, 70, tests::kPinnedToDevice, 0);
  copied(3, 10, 80, tests::kPinnedToDevice, 1);
  copied(6, 70, 110, tests::kPinnedToDevice, 0);
  copied(9, 110, 150, tests::kDeviceToPageable, 0);
  run.finish();
  const Table table = run.report(report_what_if);
  std::string overlapped;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (tests::cell_text(table, row, "name") == "all, overlapped with all else")
      overlapped = row_text(table, row, {"own_time", "saved", "new_wall"});
  }
  EXPECT_EQ(overlapped, "210 | 50 | 100") << "60 + 40 to the first device; 70 to the second; 40 back";
}

TEST(WhatIf, ASelectionChangesOnlyItsPartOfTheRun) {
  AdvisedRun run;
  run.device(0, 1);
  run.stream(1, 8);
  run.launched(0, 5, 10, 60, 0);
  run.launched(6, 8, 12, 80, 1);
  run.finish();
  EXPECT_EQ(what_if(run, "kernel", "kernel"), "68 | 118 | 2") << "wall 80; the second's latency ends at 12";
  run.selection.devices = {1};
  EXPECT_EQ(what_if(run, "kernel", "kernel"), "20 | 68 | 1") << "the other device still ends at 60";
  EXPECT_EQ(what_if(run, "launch calls", "all"), "2 | 2 | 1") << "the call that launched into that device";
  run.selection.devices = {};
  run.selection.threads = {501};
  EXPECT_EQ(run.report(report_what_if).rows(), 0u) << "a thread that did nothing";
}

}  // namespace
}  // namespace prof::analyzer
