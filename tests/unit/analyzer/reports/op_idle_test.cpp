// Depth, idle and starved time of ops, and which ops are worth optimising; answers computed by hand.
#include "analyzer/analysis/idle/device_idle.h"
#include "tests/unit/analyzer/analysis/idle/heuristic_mock.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

using tests::HandTrace;
using tests::row_text;

// Kernels run from 900 to 1400 and from 1700 to 1800 us; from 1400 to 1500 the GPU is idle and nothing is queued.
TEST(OpIdle, TellsIdleFromStarved) {
  HandTrace hand;
  tests::fill_heuristic_mock(hand);
  const Table table = hand.report(report_op_idle);
  ASSERT_EQ(table.rows(), 1u) << "ops before the first kernel have no time inside the window";
  EXPECT_EQ(row_text(table, 0,
                     {"pid", "device_name", "calls", "time", "self", "idle", "idle_percent", "starved",
                      "starved_percent", "waiting_mean", "waiting_min", "waiting_max", "name"}),
            "100 | 0 | 3 | 700000 | 700000 | 300000 | 42.9 | 100000 | 14.3 | 2.33 | 1 | 4 | CPU (After GPU)");
  hand.options.window = "run";
  const Table run = hand.report(report_op_idle);
  ASSERT_EQ(run.rows(), 3u);
  EXPECT_EQ(row_text(run, 0, {"name", "time", "idle", "starved"}),
            "CPU (Before cudaLaunchKernel) | 400000 | 400000 | 400000");
  EXPECT_EQ(row_text(run, 1, {"name", "time", "idle", "starved", "waiting_max"}),
            "CPU (After GPU) | 800000 | 400000 | 100000 | 5");
  EXPECT_EQ(row_text(run, 2, {"name", "time", "idle", "starved"}),
            "CPU (After cudaLaunchKernel) | 400000 | 400000 | 0");
}

TEST(OpIdle, AnswersForEveryOpWhenAsked) {
  HandTrace hand;
  tests::fill_heuristic_mock(hand);
  const Table table = hand.report(report_op_idle_trace);
  ASSERT_EQ(table.rows(), 3u);
  EXPECT_EQ(row_text(table, 0, {"start", "duration", "tid", "waiting", "outstanding", "idle", "starved"}),
            "900000 | 100000 | 2 | 4 | 5 | 0 | 0");
  EXPECT_EQ(row_text(table, 2, {"start", "duration", "waiting", "outstanding", "idle", "idle_percent", "starved"}),
            "1200000 | 500000 | 1 | 2 | 300000 | 60.0 | 100000");
  hand.options.definitions = Definitions::Reference;
  const Table reference = hand.report(report_op_idle_trace);
  ASSERT_EQ(reference.rows(), 12u);
  EXPECT_EQ(row_text(reference, 0, {"waiting", "idle", "idle_percent"}), "0 | 100000 | 100.0");
  EXPECT_EQ(row_text(reference, 11, {"waiting", "idle", "idle_percent", "starved"}), "1 | 100000 | 20.0 | ");
}

TEST(OpIdle, NeverMixesDevices) {
  HandTrace hand;
  const uint32_t gpu1 = hand.stream(hand.device(0, 1), 7);
  hand.range("both", 0, 1000);
  hand.launch(0, 10, 1);
  hand.launch(10, 20, 2);
  hand.kernel(100, 1000, 1);
  hand.kernel(400, 600, 2, gpu1);
  hand.finish();
  const Table table = hand.report(report_op_idle);
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(row_text(table, 0, {"device_name", "time", "idle", "starved"}), "1 | 900 | 700 | 400");
  EXPECT_EQ(row_text(table, 1, {"device_name", "time", "idle", "starved"}), "0 | 900 | 0 | 0");
}

// Two processes in one file, each with a device of its own: the ops of one did not keep the device of the other idle.
TEST(OpIdle, OpsOfAProcessCountForTheDevicesOfThatProcess) {
  HandTrace hand;
  const uint32_t process = hand.process(200), thread = hand.thread(process, 600);
  const uint32_t gpu1 = hand.stream(hand.device(process, 1), 7);
  hand.range("first", 0, 1000);
  hand.range("second", 0, 1000, RangeKind::Operator, thread);
  hand.launch(0, 10, 1);
  hand.launch(0, 10, 2, thread);
  hand.kernel(100, 1000, 1);
  hand.kernel(400, 600, 2, gpu1);
  hand.finish();
  const Table table = hand.report(report_op_idle);
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(row_text(table, 0, {"pid", "device_name", "name", "time", "idle", "starved"}),
            "200 | 1 | second | 900 | 700 | 400");
  EXPECT_EQ(row_text(table, 1, {"pid", "device_name", "name", "time", "idle", "starved"}),
            "100 | 0 | first | 900 | 0 | 0");
}

TEST(OpIdle, SelfTimeIsOutsideInnerRangesAndCalls) {
  HandTrace hand;
  hand.range("outer", 0, 100);
  hand.range("inner", 20, 50);
  hand.range("overlaps", 90, 120);  // no child: it ends after outer
  hand.launch(60, 70, 1);
  hand.launch(30, 35, 2);
  hand.finish();
  const Column<int64_t> self = self_times(hand.trace);
  ASSERT_EQ(self.size(), 3u);
  EXPECT_EQ(self[0], 50);  // 100 − 30 − 10 − 10 (covered by the later one)
  EXPECT_EQ(self[1], 25);
  EXPECT_EQ(self[2], 30);
}

TEST(Optimize, EndsAFallAtTheFirstZeroAndRanksByTheScore) {
  HandTrace hand;
  tests::fill_heuristic_mock(hand);
  const IntervalSet inside({{0, 2'000'000}});
  const auto devices = idle_of_devices({hand.trace, hand.views(), hand.selection, hand.options}, inside);
  ASSERT_EQ(devices.size(), 1u);
  ASSERT_EQ(devices[0]->falls().size(), 1u);
  EXPECT_EQ(devices[0]->falls()[0].time, (Interval{800'000, 1'300'000}));
  EXPECT_EQ(devices[0]->falls()[0].peak, 5u);
  const Table table = hand.report(report_optimize);
  ASSERT_EQ(table.rows(), 3u);
  // Idle shares 0, 0, 0.6: z = 1.1547 for the last; its self time deviates as much: 1.1547 · 1.6 = 1.848.
  EXPECT_EQ(row_text(table, 0, {"event", "source", "idle_percent", "reason", "score", "start"}),
            "CPU (After GPU) | No source code location found | 60.00 | queue fell from 5 to 0; GPU idle 300.00us of "
            "500.00us, starved 100.00us; mostly launch call | 1.848 | 1200000");
  // The other two are equal: they stay in order of time.
  EXPECT_EQ(row_text(table, 1, {"score", "start"}), "-0.924 | 900000");
  EXPECT_EQ(row_text(table, 2, {"score", "start"}), "-0.924 | 1100000");
  EXPECT_NE(table.text_form(table).find("Percentage idle time: 60.00%\nReason:               queue fell"),
            std::string::npos);
}

TEST(Optimize, GivesThePublishedHeuristicWhenAsked) {
  HandTrace hand;
  tests::fill_heuristic_mock(hand);
  hand.options.definitions = Definitions::Reference;
  Table table = hand.report(report_optimize);
  ASSERT_EQ(table.rows(), 4u);  // everything that overlaps 800 to 1700 us
  EXPECT_EQ(row_text(table, 0, {"event", "idle_percent", "reason", "score", "start"}),
            "CPU (After GPU) | 20.00 |  | 2.400 | 1200000");  // z = 1.5 for four values of which one deviates
  table.limit(1);
  EXPECT_EQ(table.text_form(table),
            "Optimizable events:\n" + std::string(80, '-') +
                "\nEvent:                CPU (After GPU)\nSource code location: No source code location found\n"
                "Percentage idle time: 20.00%\n" +
                std::string(80, '-') + "\n");
}

TEST(Optimize, NamesThePlaceInTheSourceAndNeverDividesByZero) {
  HandTrace hand;
  hand.range("train.py(12): step", 0, 10'000, RangeKind::Python);
  hand.range("aten::add", 10, 5000);
  hand.launch(20, 30, 1);
  hand.kernel(40, 50, 1);
  hand.launch(4000, 4010, 2);
  hand.kernel(4020, 4030, 2);
  hand.finish();
  const Table table = hand.report(report_optimize);  // the queue was never 4 deep: only the op that starved
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(row_text(table, 0, {"event", "source", "score"}), "aten::add | train.py(12): step | 0.000");
  hand.options.definitions = Definitions::Reference;
  const Table reference = hand.report(report_optimize);
  EXPECT_EQ(reference.rows(), 0u);
  EXPECT_EQ(reference.text_form(reference), "No events to optimize\n");
  EXPECT_TRUE(names_source("a/b.py(3): f"));
  EXPECT_FALSE(names_source("aten::add"));
  EXPECT_FALSE(names_source("x.py("));
}

}  // namespace
}  // namespace prof::analyzer
