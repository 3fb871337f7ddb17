// The report queue-depth: when is the depth in a launch record too low?
#include "tests/unit/analyzer/hand_trace.h"
#include "tests/unit/analyzer/launch_log.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace prof::analyzer {
namespace {

using tests::add_calls;
using tests::add_launch;
using tests::add_run;
using tests::add_thread;
using tests::LogBuilder;
using tests::model_of;
using tests::new_launch_log;

// Launches with a live depth of 0: thread 1 from 100 to 130, thread 2 at `entered`. The kernel of the first runs from
// 150 to 160.
std::string live_too_low(uint64_t entered) {
  LogBuilder log = new_launch_log();
  add_thread(log, 1, 500);
  add_thread(log, 2, 501);
  add_launch(log, 1, 100, 130);
  add_launch(log, 2, entered, entered + 5);
  add_calls(log, 500, {{101, 1}});
  add_calls(log, 501, {{entered + 1, 2}});
  add_run(log, 150, 160, 1);
  add_run(log, 160, 170, 2);
  const auto trace = model_of(log);
  const Views views(*trace);
  const Selection selection;
  const ReportOptions options;
  const Table table = report_queue_depth({*trace, views, selection, options});
  return tests::row_text(table, 0, {"launches", "live_too_low"});
}

TEST(QueueDepthReport, ALiveDepthMayLackWhatAnotherThreadIsLaunching) {
  EXPECT_EQ(live_too_low(110), "2 | 0");
  EXPECT_EQ(live_too_low(129), "2 | 0");
}

TEST(QueueDepthReport, ALiveDepthWithoutAReturnedLaunchIsTooLow) {
  EXPECT_EQ(live_too_low(130), "2 | 1");
  EXPECT_EQ(live_too_low(140), "2 | 1");
}

}  // namespace
}  // namespace prof::analyzer
