// The queue depth as other tools define it, and the effect of a full queue on the table; answers computed by hand.
#include "analyzer/analysis/idle/hta_queue_length.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

using tests::HandTrace;
using tests::row_text;

TEST(HtaQueueLength, AddsBeforeItTakesAwayAndGoesBelowZeroWhereAKernelIsBeforeItsLaunch) {
  HandTrace hand;
  hand.launch(0, 5, 1);
  hand.launch(10, 15, 2);
  hand.launch(30, 35, 3);
  hand.kernel(10, 20, 1);
  hand.kernel(20, 25, 2);
  hand.kernel(26, 28, 3);   // before its launch
  hand.kernel(40, 50, 99);  // not linked
  hand.finish();
  const HtaQueueLength length(hand.trace, {StreamId{0}});
  std::vector<std::pair<int64_t, int64_t>> steps;
  for (const HtaQueueLength::Step& step : length.steps) steps.emplace_back(step.time_ns, step.length);
  EXPECT_EQ(steps, (std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {10, 2}, {10, 1}, {20, 0}, {26, -1}, {30, 0}}));
  EXPECT_EQ(length.most(), 2);
  EXPECT_EQ(length.least(), -1);
  EXPECT_EQ(length.last(), 0);
  EXPECT_DOUBLE_EQ(length.weighted_mean(), (1 * 10 + 1 * 10 + 0 * 6 - 1 * 4) / 30.0);
  hand.options.definitions = Definitions::Hta;
  const Table table = hand.report(report_queue_depth);
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(row_text(table, 0,
                     {"streams", "count", "depth_mean", "depth_std", "depth_min", "depth_p25", "depth_p50", "depth_p75",
                      "depth_max", "depth_last"}),
            "7 | 6 | 0.5000 | 1.0488 | -1 | 0.00 | 0.50 | 1.00 | 2 | 0");
}

TEST(HtaQueueLength, AStreamWithoutALaunchHasNoRowAndIsCounted) {
  HandTrace hand;
  const uint32_t second = hand.stream(0, 8);
  hand.launch(0, 5, 1);
  hand.call("cudaGraphLaunch", 6, 8, 2);
  hand.kernel(10, 20, 1);
  hand.kernel(30, 40, 2);           // HTA does not know its launch
  hand.kernel(20, 30, 99, second);  // no launch
  hand.finish();
  const Table ours = hand.report(report_queue_depth);
  ASSERT_EQ(ours.rows(), 2u);
  EXPECT_EQ(row_text(ours, 0, {"streams", "time"}), "7 | 40");
  EXPECT_EQ(row_text(ours, 1, {"streams", "time"}), "all | 40");
  EXPECT_EQ(ours.notes.back(), "1 streams left out: no launch of their operations is in the input");
  hand.options.definitions = Definitions::Hta;
  const Table hta = hand.report(report_queue_depth);
  ASSERT_EQ(hta.rows(), 2u);
  EXPECT_EQ(row_text(hta, 0, {"streams", "count"}), "7 | 2");
  EXPECT_EQ(row_text(hta, 1, {"streams", "count"}), "all | 2");
  EXPECT_EQ(hta.notes.back(),
            "2 operations left out: no launch in the input, or one that HTA's queue length does not know by name");
}

TEST(HtaQueueLength, OurDepthIsOfTheWindowAskedFor) {
  HandTrace hand;
  hand.launch(0, 10, 1);
  hand.launch(10, 20, 2);
  hand.kernel(100, 200, 1);
  hand.kernel(200, 300, 2);
  hand.finish();
  const Table whole = hand.report(report_queue_depth);
  EXPECT_EQ(row_text(whole, 0, {"time", "waiting_max", "outstanding_mean", "full_launches"}), "300 | 2 | 1.63 | 0");
  hand.options.window = "100ns..200ns";
  const Table part = hand.report(report_queue_depth);
  EXPECT_EQ(row_text(part, 0, {"time", "waiting_mean", "waiting_max", "outstanding_max"}), "100 | 1.00 | 1 | 2");
}

TEST(HtaQueueLength, SaysHowDeepAFullQueueWas) {
  HandTrace hand;
  int64_t now = 0;
  for (uint32_t i = 1; i <= 1100; ++i) {
    const int64_t takes = i > 1001 ? 100'000 : 900;
    hand.launch(now, now + takes, i);
    now += takes + 100;
    const int64_t start = 2'000'000 + 100'000 * static_cast<int64_t>(i);
    hand.kernel(start, start + 100'000, i);
  }
  hand.finish();
  const Table table = hand.report(report_queue_depth);
  EXPECT_EQ(row_text(table, 0, {"full_launches", "full_time"}), "99 | 9900000");
  bool said = false;
  for (const std::string& note : table.notes) said = said || note.starts_with("queue full: 99 launch calls");
  EXPECT_TRUE(said);
}

}  // namespace
}  // namespace prof::analyzer
