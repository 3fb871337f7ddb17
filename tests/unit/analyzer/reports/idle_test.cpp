// idle and idle-gaps: sums by cause, cut to the window, and single gaps; answers computed by hand.
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

using tests::HandTrace;
using tests::row_text;

void two_late_launches(HandTrace& hand) {
  hand.range("ProfilerStep#1", 0, 10'000, RangeKind::Annotation);
  hand.launch(0, 50, 1);
  hand.kernel(100, 1000, 1);
  hand.call("cudaStreamSynchronize", 60, 1100, 5);
  hand.launch(2000, 2050, 2);
  hand.kernel(2100, 3000, 2);
  hand.launch(6000, 6050, 3);
  hand.kernel(6100, 7000, 3);
}

TEST(Idle, SumsThePiecesOfGapsAndNamesTheCulpritWithTheMostTime) {
  HandTrace hand;
  two_late_launches(hand);
  hand.finish();
  const Table table = hand.report(report_idle);
  ASSERT_EQ(table.rows(), 4u);
  const auto row = [&](size_t i) {
    return row_text(table, i,
                    {"window", "pid", "device_name", "cause", "gaps", "time", "idle_share_percent", "window_percent",
                     "before_launch", "max", "top_culprit", "top_culprit_time"});
  };
  EXPECT_EQ(row(0), "gpu | 100 | 0 | in an op | 2 | 3900 | 92.9 | 56.5 | 3900 | 3000 | ProfilerStep* | 3900");
  EXPECT_EQ(row(1),
            "gpu | 100 | 0 | synchronising call | 1 | 100 | 2.4 | 1.4 | 100 | 100 | cudaStreamSynchronize | 100");
  EXPECT_EQ(row(2), "gpu | 100 | 0 | launch call | 2 | 100 | 2.4 | 1.4 | 0 | 50 | cudaLaunchKernel | 100");
  EXPECT_EQ(row(3), "gpu | 100 | 0 | launch latency | 2 | 100 | 2.4 | 1.4 | 0 | 50 | kernel | 100");
  hand.options.window = "1050ns..1500ns";  // cuts two pieces of the first gap
  const Table cut = hand.report(report_idle);
  ASSERT_EQ(cut.rows(), 2u);
  EXPECT_EQ(row_text(cut, 0, {"cause", "time", "window_percent"}), "in an op | 400 | 88.9");
  EXPECT_EQ(row_text(cut, 1, {"cause", "time", "window_percent"}), "synchronising call | 50 | 11.1");
}

// Steps of two processes overlap.
TEST(Idle, WindowsThatOverlapEachHaveAllTheirIdleTime) {
  HandTrace hand;
  two_late_launches(hand);
  hand.options.window = "nvtx:ProfilerStep#1";
  hand.range("ProfilerStep#1", 500, 2050, RangeKind::Annotation, hand.thread(0, 501));
  hand.finish();
  const Table table = hand.report(report_idle);
  int64_t first = 0, second = 0;
  for (size_t i = 0; i < table.rows(); ++i) {
    const int64_t ns = std::stoll(tests::cell_text(table, i, "time"));
    (tests::cell_text(table, i, "window") == "ProfilerStep#1#1" ? first : second) += ns;
  }
  EXPECT_EQ(first, 100 + 1100 + 3100 + 3000);
  EXPECT_EQ(second, 1050);
}

TEST(Idle, WithOneCauseForEachGapTheCallThatHeldTheThreadHasTheWholeGap) {
  HandTrace hand;
  hand.options.definitions = Definitions::GapCause;
  two_late_launches(hand);
  hand.finish();
  const Table table = hand.report(report_idle);
  ASSERT_EQ(table.rows(), 2u);
  const auto row = [&](size_t i) {
    return row_text(table, i,
                    {"window", "pid", "device_name", "cause", "gaps", "time", "idle_share_percent", "window_percent",
                     "before_launch", "max", "top_culprit", "top_culprit_time"});
  };
  EXPECT_EQ(row(0), "gpu | 100 | 0 | in an op | 1 | 3100 | 73.8 | 44.9 | 3000 | 3100 | ProfilerStep* | 3100");
  EXPECT_EQ(row(1),
            "gpu | 100 | 0 | synchronising call | 1 | 1100 | 26.2 | 15.9 | 1000 | 1100 | "
            "cudaStreamSynchronize | 1100");
  hand.options.window = "1000ns..1500ns";  // cuts the first gap
  const Table cut = hand.report(report_idle);
  ASSERT_EQ(cut.rows(), 1u);
  EXPECT_EQ(row_text(cut, 0, {"cause", "time", "window_percent"}), "synchronising call | 500 | 100.0");
}

TEST(Idle, CategoriesOfHolisticTraceAnalysisAreOfOneStreamAlone) {
  HandTrace hand;
  const uint32_t second = hand.stream(0, 13);
  hand.launch(0, 10, 1);
  hand.launch(20, 30, 2);
  hand.launch(5000, 5010, 3);
  hand.launch(5020, 5030, 4);
  hand.kernel(100, 1000, 1);
  hand.kernel(1500, 2000, 2);      // gap 500: kernel wait
  hand.kernel(6000, 7000, 3);      // gap 4000, launched after 2000: host wait
  hand.kernel(50'000, 51'000, 4);  // gap 43000: other
  hand.launch(31, 32, 5);
  hand.kernel(900, 60'000, 5, second);
  hand.finish();
  hand.options.definitions = Definitions::Hta;
  const Table table = hand.report(report_idle);
  ASSERT_EQ(table.rows(), 3u);  // none for the second stream, which has no gap
  EXPECT_EQ(row_text(table, 0, {"stream", "category", "gaps", "time"}), "7 | host_wait | 1 | 4000");
  EXPECT_EQ(row_text(table, 1, {"stream", "category", "gaps", "time"}), "7 | kernel_wait | 1 | 500");
  EXPECT_EQ(row_text(table, 2, {"stream", "category", "gaps", "time"}), "7 | other | 1 | 43000");
}

void three_kernels(HandTrace& hand) {
  hand.launch(0, 50, 1);
  hand.kernel(100, 1000, 1, 0, "first");
  hand.launch(2000, 2050, 2);
  hand.kernel(2100, 3000, 2, 0, "second");
  hand.range("aten::mm", 1100, 6100);
  hand.launch(6000, 6050, 3);
  hand.kernel(6100, 7000, 3, 0, "third");
}

TEST(IdleGaps, ListsTheLongestFirstWithTheirDivision) {
  HandTrace hand;
  three_kernels(hand);
  hand.finish();
  const Table table = hand.report(report_idle_gaps);
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(row_text(table, 0,
                     {"start", "duration", "cause", "cause_time", "class", "before_launch", "culprit_range", "tid",
                      "before", "after", "division"}),
            "3000 | 3100 | in an op | 3000 | host_wait | 3000 | aten::mm | 500 | second | third | "
            "in an op 3.0000us, launch call 50ns, launch latency 50ns");
  EXPECT_EQ(row_text(table, 1, {"start", "duration", "cause", "cause_time", "before", "after", "division"}),
            "1000 | 1100 | in an op | 900 | first | second | "
            "in an op 900ns, outside any call 100ns, launch call 50ns, launch latency 50ns");
}

TEST(IdleGaps, PiecesSumToTheirGap) {
  HandTrace hand;
  three_kernels(hand);
  hand.finish();
  hand.options.group_by = {"piece"};
  const Table table = hand.report(report_idle_gaps);
  ASSERT_EQ(table.rows(), 7u);
  EXPECT_EQ(row_text(table, 0, {"gap_start", "start", "duration", "cause", "tid", "after"}),
            "1000 | 1000 | 100 | outside any call | 500 | second");
  EXPECT_EQ(row_text(table, 1, {"gap_start", "start", "duration", "cause", "culprit_range"}),
            "1000 | 1100 | 900 | in an op | aten::mm");
  EXPECT_EQ(row_text(table, 2, {"gap_start", "start", "duration", "cause", "culprit_call", "culprit_call_time"}),
            "1000 | 2000 | 50 | launch call | cudaLaunchKernel | 50");
  EXPECT_EQ(row_text(table, 3, {"gap_start", "start", "duration", "cause", "culprit_call", "tid"}),
            "1000 | 2050 | 50 | launch latency |  | ");
}

TEST(IdleGaps, WithOneCauseForEachGapListsTheLongestFirstWithWhatWasBeforeAndAfter) {
  HandTrace hand;
  hand.options.definitions = Definitions::GapCause;
  three_kernels(hand);
  hand.finish();
  const Table table = hand.report(report_idle_gaps);
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(
      row_text(table, 0,
               {"start", "duration", "cause", "class", "before_launch", "culprit_range", "tid", "before", "after"}),
      "3000 | 3100 | in an op | host_wait | 3000 | aten::mm | 500 | second | third");
  EXPECT_EQ(row_text(table, 1, {"start", "duration", "before", "after"}), "1000 | 1100 | first | second");
}

}  // namespace
}  // namespace prof::analyzer
