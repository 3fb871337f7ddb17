// The stack of a launch in a backward operator continues with the stack of its forward operator, after a frame that
// marks the join: for stacks of logs and of torch.profiler, and in tables. It does not continue if the thread's own
// stack is sufficient or the forward operator is unknown.
#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/analysis/views.h"
#include "tests/unit/analyzer/analysis/stacks/stack_program.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

struct ForwardProgram : tests::StackProgram {
  ForwardProgram() {
    forward = stack({0x2001, 0x3001}, {"forward (model.py:7)", "main (model.py:3)"});
    own = stack({0x4001, 0x5001}, {});
    own_python = stack({0x4001}, {"backward (model.py:21)"});
  }
  void nvtx(const char* text, int64_t begin, int64_t end, uint32_t thread = 0) {
    range(text, begin, end, RangeKind::Nvtx, thread);
  }

  uint32_t forward = 0, own = 0, own_python = 0;
};

// Python frames are placed at the end if the native frames contain no loop of the interpreter.
constexpr const char* kForward = "0x2001;0x3001;forward (model.py:7);main (model.py:3)";
constexpr const char* kJoined = "0x4001;0x5001;[forward of MmBackward0];forward (model.py:7);main (model.py:3)";

TEST(ForwardStacks, ALaunchOnAutogradsThreadGoesOnInTheForwardOperators) {
  ForwardProgram program;
  program.nvtx("aten::linear, seq = 5, op_id = 1", 0, 100);
  program.nvtx("aten::mm, seq = 5, op_id = 2", 10, 90);
  program.launch_with(20, program.forward);
  program.nvtx("autograd::engine::evaluate_function: MmBackward0, seq = 5", 200, 300, 1);
  program.nvtx("MmBackward0, stashed seq = 5, op_id = 9", 210, 290, 1);
  program.nvtx("aten::mm, op_id = 10", 215, 280, 1);
  program.launch_with(220, program.own, 1);
  program.launch_with(400, program.own, 1);  // outside of the backward operator
  program.finish();
  EXPECT_EQ(program.text(20), kForward);
  EXPECT_EQ(program.text(220), kJoined);
  EXPECT_EQ(program.text(400), "0x4001;0x5001");
  CallStacks& stacks = call_stacks(program.views());
  EXPECT_EQ(stacks.best(stacks.of_call(program.row_of(220))), "forward (model.py:7) [forward of MmBackward0]");
  EXPECT_EQ(stacks.best(stacks.of_call(program.row_of(20))), "forward (model.py:7)");
  EXPECT_EQ(stacks.of_call(program.row_of(220)), stacks.of_operation(program.trace.operations[1]));
}

TEST(ForwardStacks, TheOptionLeavesItOut) {
  ForwardProgram program;
  program.nvtx("aten::mm, seq = 5", 0, 100);
  program.launch_with(20, program.forward);
  program.nvtx("MmBackward0, stashed seq = 5", 210, 290, 1);
  program.launch_with(220, program.own, 1);
  program.finish();
  StackOptions options;
  options.no_forward = true;
  EXPECT_EQ(program.text(220, options), "0x4001;0x5001");
  EXPECT_EQ(program.text(220), kJoined);
}

TEST(ForwardStacks, PythonOnAutogradsThreadKeepsItsPlaceInside) {
  ForwardProgram program;
  program.nvtx("aten::mm, seq = 5", 0, 100);
  program.launch_with(20, program.forward);
  program.nvtx("MmBackward0, stashed seq = 5", 210, 290, 1);
  program.launch_with(220, program.own_python, 1);
  program.finish();
  EXPECT_EQ(program.text(220),
            "0x4001;backward (model.py:21);[forward of MmBackward0];forward (model.py:7);main (model.py:3)");
}

TEST(ForwardStacks, OnTheForwardThreadItselfPythonFramesSayEnough) {
  ForwardProgram program;
  program.nvtx("aten::mm, seq = 5", 0, 100);
  program.launch_with(20, program.forward);
  program.nvtx("MmBackward0, stashed seq = 5", 210, 290);
  program.launch_with(220, program.own_python);
  program.launch_with(240, program.own);
  program.finish();
  EXPECT_EQ(program.text(220), "0x4001;backward (model.py:21)");
  EXPECT_EQ(program.text(240), kJoined);
}

TEST(ForwardStacks, WhatIsNotKnownIsLeftOut) {
  ForwardProgram program;
  program.nvtx("aten::view, seq = 4", 0, 5);  // launches nothing
  program.nvtx("aten::mm, seq = 5", 10, 100);
  program.launch_with(20, 0);  // its stack was not recorded
  program.nvtx("ViewBackward0, stashed seq = 4", 200, 209, 1);
  program.nvtx("MmBackward0, stashed seq = 5", 210, 290, 1);
  program.nvtx("LostBackward0, stashed seq = 77", 300, 390, 1);
  for (const int64_t begin : {201, 220, 310}) program.launch_with(begin, program.own, 1);
  program.finish();
  for (const int64_t begin : {201, 220, 310}) EXPECT_EQ(program.text(begin), "0x4001;0x5001") << begin;
}

TEST(ForwardStacks, BackwardOfBackwardHasBothSeams) {
  ForwardProgram program;
  program.nvtx("aten::mm, seq = 5", 0, 100);
  program.launch_with(20, program.forward);
  program.nvtx("MmBackward0, stashed seq = 5", 200, 290, 1);
  program.nvtx("aten::mul, seq = 6", 210, 280, 1);
  program.launch_with(220, program.own, 1);
  program.nvtx("MulBackward0, stashed seq = 6", 300, 390, 1);
  program.launch_with(310, program.stack({0x6001}, {}), 1);
  program.finish();
  EXPECT_EQ(program.text(310),
            "0x6001;[forward of MulBackward0];[forward of MmBackward0];forward (model.py:7);main (model.py:3)");
  EXPECT_EQ(program.text(220), kJoined);
}

TEST(ForwardStacks, WithoutPythonTheForwardOperatorsNativeFramesStay) {
  ForwardProgram program;
  program.nvtx("aten::mm, seq = 5", 0, 100);
  program.launch_with(20, program.stack({0x2001, 0x3001}, {}));
  program.nvtx("MmBackward0, stashed seq = 5", 210, 290, 1);
  program.launch_with(220, program.own, 1);
  program.finish();
  EXPECT_EQ(program.text(220), "0x4001;0x5001;[forward of MmBackward0];0x2001;0x3001");
}

TEST(ForwardStacks, TablesCountTheTwoSidesApart) {
  ForwardProgram program;
  program.nvtx("aten::mm, seq = 5", 0, 100);
  program.launch_with(20, program.forward, 0, 30);
  program.nvtx("MmBackward0, stashed seq = 5", 210, 290, 1);
  program.launch_with(220, program.own, 1, 50);
  program.launch_with(240, program.own, 1, 20);
  program.finish();
  program.options.metric = "gpu-time";
  const Table hot = program.report(report_hot_stacks);
  std::string forward, seam;
  for (size_t row = 0; row < hot.rows(); ++row) {
    const std::string function = tests::cell_text(hot, row, "function");
    const std::string text = tests::row_text(hot, row, {"self", "total", "backward_value", "count", "kind"});
    if (function == "forward") forward = text;
    if (function == "[forward of MmBackward0]") seam = text;
  }
  EXPECT_EQ(forward, "0 | 30 | 70 | 3 | Python");
  EXPECT_EQ(seam, "0 | 70 | 0 | 2 | forward of");
  const Table stacks = program.report(report_stacks);
  ASSERT_EQ(stacks.rows(), 2u);
  EXPECT_EQ(tests::cell_text(stacks, 0, "stack"),
            "model.py(3): main;model.py(7): forward;[forward of MmBackward0];0x5001;0x4001;kernel");
  EXPECT_EQ(tests::row_text(stacks, 0, {"value", "count"}), "70 | 2");
}

TEST(ForwardStacks, TablesWithoutBackwardOperatorsAreAsBefore) {
  ForwardProgram program;
  program.launch_with(20, program.forward);
  program.finish();
  program.options.metric = "gpu-time";
  const Table hot = program.report(report_hot_stacks);
  for (const TableColumn& column : hot.columns()) EXPECT_NE(column.key, "backward_value");
}

// torch.profiler: the Python functions of the forward operator, or the backward operator's own if it has some.
TEST(ForwardStacks, TracesOfTorchProfilerHaveTheSameSeam) {
  HandTrace hand;
  hand.thread(0, 501);
  const auto op = [&](const char* name, int64_t begin, int64_t end, uint32_t forward_thread, uint32_t thread) {
    if (hand.trace.details.empty()) hand.trace.details.push_back({});
    OperatorDetail detail;
    detail.sequence = 5, detail.forward_thread = forward_thread;
    hand.range(name, begin, end, RangeKind::Operator, thread);
    hand.trace.ranges.back().payload = hand.trace.details.size();
    hand.trace.details.push_back(detail);
  };
  hand.range("train.py(3): main", 0, 1000, RangeKind::Python);
  hand.range("model.py(7): forward", 5, 90, RangeKind::Python);
  op("aten::mul", 10, 80, 0, 0);
  hand.launch(20, 30, 1);
  op("MulBackward0", 200, 290, 1, 1);
  hand.launch(210, 220, 2, 1);
  hand.range("function.py(9): backward", 230, 280, RangeKind::Python, 1);
  hand.launch(240, 250, 3, 1);
  for (uint32_t i = 1; i <= 3; ++i) hand.kernel(1000 * i, 1000 * i + 10, i);
  hand.finish();
  CallStacks& stacks = call_stacks(hand.views());
  std::vector<std::string> texts;
  for (uint32_t row = 0; row < hand.trace.host.size(); ++row) texts.push_back(stacks.text(stacks.of_call(row)));
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "forward (model.py:7);main (train.py:3)",
                       "[forward of MulBackward0];forward (model.py:7);main (train.py:3)",
                       "backward (function.py:9);[forward of MulBackward0];forward (model.py:7);main (train.py:3)"}));
}

}  // namespace
}  // namespace prof::analyzer
