// The time over which the TensorBoard plugin computes utilisation, by hand. The plugin's own numbers for its four
// sample traces are in docs/reports/definitions.md.
#include "analyzer/analysis/select/tensorboard_steps.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

using tests::HandTrace;
using tests::row_text;

StepOperation launched(int64_t call_begin, int64_t call_end, int64_t start, int64_t end) {
  return {start, end, true, {call_begin, call_end}};
}

std::pair<int64_t, int64_t> window(const std::vector<Interval>& steps, const std::vector<StepOperation>& operations) {
  const Interval found = tensorboard_window(steps, operations);
  return {found.begin_ns, found.end_ns};
}
using Pair = std::pair<int64_t, int64_t>;

TEST(TensorboardSteps, AStepLastsUntilTheOperationsOfItsCallsHaveEnded) {
  EXPECT_EQ(window({{100, 200}}, {launched(110, 120, 130, 250)}), Pair(100, 250));
  EXPECT_EQ(window({{100, 200}}, {launched(110, 120, 130, 150)}), Pair(100, 200));
}

TEST(TensorboardSteps, WhatWasLaunchedBeforeTheFirstStepDelaysIt) {
  EXPECT_EQ(window({{100, 200}}, {launched(50, 60, 90, 120), launched(110, 115, 130, 180)}), Pair(120, 200));
  // It has to end before the step's own first operation.
  EXPECT_EQ(window({{100, 200}}, {launched(50, 60, 90, 140), launched(110, 115, 130, 180)}), Pair(100, 200));
}

TEST(TensorboardSteps, ACallThatIsPartlyInsideAStepBelongsToNone) {
  EXPECT_EQ(window({{100, 200}}, {launched(190, 201, 210, 300), launched(110, 115, 130, 180)}), Pair(100, 200));
  // A call at the very end of a step belongs to the next one.
  EXPECT_EQ(window({{100, 200}, {200, 300}}, {launched(110, 115, 130, 180), launched(200, 205, 310, 320)}),
            Pair(100, 320));
}

TEST(TensorboardSteps, TheLastStepDoesNotCountIfItsOperationsAreFarFewer) {
  const std::vector<Interval> steps = {{0, 100}, {100, 200}};
  std::vector<StepOperation> operations;
  for (int64_t i = 0; i < 10; ++i) operations.push_back(launched(i, i + 1, 10 + i, 11 + i));
  for (int64_t i = 0; i < 8; ++i) operations.push_back(launched(100 + i, 101 + i, 210 + i, 211 + i));
  EXPECT_EQ(window(steps, operations), Pair(0, 218));  // 8 of 10
  operations.pop_back();
  EXPECT_EQ(window(steps, operations), Pair(0, 100));  // 7 of 10
}

TEST(TensorboardSteps, StepsAfterTheLastOneWithOperationsDoNotCount) {
  EXPECT_EQ(window({{0, 100}, {100, 200}, {200, 300}}, {launched(0, 1, 10, 20), launched(100, 101, 110, 120)}),
            Pair(0, 200));
}

TEST(TensorboardSteps, WithoutOperationsInsideAStepTheHostDecides) {
  EXPECT_EQ(window({{0, 100}, {100, 200}}, {}), Pair(0, 200));
  EXPECT_EQ(window({{0, 100}, {100, 200}}, {launched(300, 301, 310, 400)}), Pair(0, 200));
}

TEST(TensorboardUtilisation, CountsKernelsAloneFromTheFirstStepToTheLast) {
  HandTrace hand;
  hand.range("ProfilerStep#1", 0, 100, RangeKind::Annotation);
  hand.range("ProfilerStep#2", 100, 200, RangeKind::Annotation);
  hand.launch(10, 15, 1);
  hand.call("cudaMemcpyAsync", 20, 25, 2);
  hand.launch(110, 115, 3);
  hand.call("cudaMemcpyAsync", 120, 125, 4);
  hand.launch(300, 305, 5);  // after the steps
  const uint32_t other = hand.stream(0, 8);
  hand.kernel(30, 80, 1);
  hand.copy(80, 95, 2, 64, 1);
  hand.kernel(130, 210, 3);
  hand.copy(140, 250, 4, 64, 1, other);  // the last step lasts until 250
  hand.kernel(310, 400, 5);
  hand.finish();
  hand.options.definitions = Definitions::TensorBoard;
  const Table table = hand.report(report_gpu_util);
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(row_text(table, 0, {"window", "start", "length", "busy", "busy_percent"}), "steps | 0 | 250 | 130 | 52.00");
}

TEST(TensorboardUtilisation, CallsOfTheDriverLaunchNothingForThePlugin) {
  HandTrace hand;
  hand.range("ProfilerStep#1", 0, 100, RangeKind::Annotation);
  hand.launch(10, 15, 1);
  hand.call("cuLaunchKernel", 20, 25, 2);
  hand.kernel(30, 80, 1);
  hand.kernel(80, 300, 2);
  hand.finish();
  hand.options.definitions = Definitions::TensorBoard;
  EXPECT_EQ(row_text(hand.report(report_gpu_util), 0, {"length", "busy"}), "100 | 70");
}

TEST(TensorboardUtilisation, WithoutStepsOperatorsAreOneStepAndWithoutBothThereIsNoRow) {
  HandTrace hand;
  hand.range("aten::a", 0, 20);
  hand.range("aten::b", 30, 60);
  hand.launch(5, 10, 1);
  hand.kernel(10, 40, 1);
  hand.finish();
  hand.options.definitions = Definitions::TensorBoard;
  EXPECT_EQ(row_text(hand.report(report_gpu_util), 0, {"start", "length", "busy"}), "0 | 60 | 30");
  HandTrace bare;
  bare.launch(0, 10, 1);
  bare.kernel(10, 40, 1);
  bare.finish();
  bare.options.definitions = Definitions::TensorBoard;
  const Table none = bare.report(report_gpu_util);
  EXPECT_EQ(none.rows(), 0u);
  EXPECT_EQ(none.notes.back(), "1 devices left out: their process has neither profiler steps nor operators");
}

}  // namespace
}  // namespace prof::analyzer
