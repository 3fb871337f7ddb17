// Backward operators find the forward operator that made them: by Kineto's numbers or emit_nvtx's texts, with several
// candidates, in double backward, across threads and processes.
#include "analyzer/model/forward_backward.h"
#include "analyzer/analysis/analysis.h"
#include "analyzer/model/op_stacks.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

// An operator with Kineto's "Sequence number" and "Fwd thread id".
void kineto(HandTrace& hand, const char* name, int64_t begin, int64_t end, int64_t sequence,
            uint32_t forward_thread = 0, uint32_t thread = 0) {
  if (hand.trace.details.empty()) hand.trace.details.push_back({});
  OperatorDetail detail;
  detail.sequence = sequence, detail.forward_thread = forward_thread;
  hand.range(name, begin, end, RangeKind::Operator, thread);
  hand.trace.ranges.back().payload = hand.trace.details.size();
  hand.trace.details.push_back(detail);
}

// "mm>MmBackward0". The outermost is in brackets if it differs; other candidates and the order follow if there are any.
std::string links_text(const Trace& trace) {
  const auto name = [&](uint32_t row) {
    return row == kNone ? std::string("?") : std::string(trace.range_name(trace.ranges[row]));
  };
  std::string all;
  const ForwardBackward forward_backward(trace);
  for (const BackwardLink& link : forward_backward.links()) {
    all += all.empty() ? "" : " ";
    all += name(link.forward);
    if (link.forward != link.outer_forward) all += "[" + name(link.outer_forward) + "]";
    all += ">" + name(link.backward);
    if (link.backward != link.outer_backward) all += "[" + name(link.outer_backward) + "]";
    if (link.others != 0) all += "+" + std::to_string(link.others);
    if (link.order != 1) all += "^" + std::to_string(link.order);
  }
  return all;
}

TEST(ForwardBackward, LinksTheInnermostAndKnowsTheOutermost) {
  HandTrace hand;
  hand.thread(0, 501);
  kineto(hand, "linear", 0, 100, 5);
  kineto(hand, "addmm", 10, 90, 5);
  kineto(hand, "relu", 110, 120, 6);
  kineto(hand, "engine: ReluBackward0", 200, 220, 6, 1, 1);
  kineto(hand, "ReluBackward0", 205, 215, 6, 1, 1);
  kineto(hand, "engine: AddmmBackward0", 230, 260, 5, 1, 1);
  kineto(hand, "AddmmBackward0", 235, 255, 5, 1, 1);
  kineto(hand, "mm", 240, 250, -1, 0, 1);
  const Trace& trace = hand.finish();
  EXPECT_EQ(links_text(trace),
            "relu>ReluBackward0[engine: ReluBackward0] addmm[linear]>AddmmBackward0[engine: AddmmBackward0]");
  const ForwardBackward links(trace);
  ASSERT_NE(links.around(7), nullptr);  // mm ran inside AddmmBackward0
  EXPECT_EQ(trace.range_name(trace.ranges[links.around(7)->forward]), "addmm");
  EXPECT_EQ(links.around(0), nullptr);
}

TEST(ForwardBackward, TakesTheLastForwardOperatorOfTheNumberAndSaysThatThereWereMore) {
  HandTrace hand;
  kineto(hand, "view", 0, 10, 5);
  kineto(hand, "mul", 20, 30, 5);
  kineto(hand, "MulBackward0", 40, 50, 5, 1);  // on the same thread, as backward on the CPU runs
  kineto(hand, "add", 60, 70, 5);              // later: cannot have made the backward operator
  EXPECT_EQ(links_text(hand.finish()), "mul>MulBackward0+1");
}

TEST(ForwardBackward, CountsWhatHasNoForwardOperator) {
  HandTrace hand;
  kineto(hand, "mul", 0, 10, 5);
  kineto(hand, "SumBackward0", 20, 30, 9, 1);
  kineto(hand, "MulBackward0", 40, 50, 5, 1);
  const Trace& trace = hand.finish();
  EXPECT_EQ(links_text(trace), "?>SumBackward0 mul>MulBackward0");
  EXPECT_EQ(ForwardBackward(trace).unmatched(), 1u);
}

TEST(ForwardBackward, FindsWhichThreadANumberOfPyTorchMeans) {
  HandTrace hand;
  hand.thread(0, 501), hand.thread(0, 502);
  kineto(hand, "a5", 0, 10, 5, 0, 0);
  kineto(hand, "a6", 10, 20, 6, 0, 0);
  kineto(hand, "b5", 5, 15, 5, 0, 1);
  kineto(hand, "b7", 20, 30, 7, 0, 1);
  kineto(hand, "Backward a5", 40, 41, 5, 1, 2);
  kineto(hand, "Backward a6", 42, 43, 6, 1, 2);
  kineto(hand, "Backward b5", 44, 45, 5, 2, 2);
  kineto(hand, "Backward b7", 46, 47, 7, 2, 2);
  EXPECT_EQ(links_text(hand.finish()), "a5>Backward a5 a6>Backward a6 b5>Backward b5 b7>Backward b7");
}

TEST(ForwardBackward, KeepsProcessesApart) {
  HandTrace hand;
  const uint32_t other = hand.thread(hand.process(200), 500);
  kineto(hand, "mine", 0, 10, 5);
  kineto(hand, "theirs", 5, 15, 5, 0, other);
  kineto(hand, "MyBackward0", 20, 30, 5, 1);
  EXPECT_EQ(links_text(hand.finish()), "mine>MyBackward0");
}

TEST(ForwardBackward, ReadsTheTextsOfEmitNvtx) {
  HandTrace hand;
  hand.thread(0, 501);
  hand.range("aten::linear, seq = 5, op_id = 1", 0, 100, RangeKind::Nvtx);
  hand.range("aten::addmm, seq = 5, op_id = 2, sizes = [[3], [2, 3]]", 10, 90, RangeKind::Nvtx);
  hand.range("autograd::engine::evaluate_function: AddmmBackward0, seq = 5", 200, 260, RangeKind::Nvtx, 1);
  hand.range("AddmmBackward0, stashed seq = 5, op_id = 7", 210, 250, RangeKind::Nvtx, 1);
  hand.range("aten::mm, seq = 0", 220, 230, RangeKind::Nvtx, 1);
  EXPECT_EQ(links_text(hand.finish()),
            "aten::addmm, seq = 5, op_id = 2, sizes = [[3], [2, 3]][aten::linear, seq = 5, op_id = 1]>"
            "AddmmBackward0, stashed seq = 5, op_id = 7[autograd::engine::evaluate_function: AddmmBackward0, seq = 5]");
}

// In later releases both sides say "seq"; the engine's range around the backward operator has no number.
TEST(ForwardBackward, KnowsBackwardOperatorsOfEmitNvtxByTheEngineAroundThem) {
  HandTrace hand;
  hand.thread(0, 501);
  hand.range("aten::linear, op_id = 7", 0, 100, RangeKind::Nvtx);
  hand.range("aten::addmm, seq = 5, op_id = 8", 10, 90, RangeKind::Nvtx);
  hand.range("aten::relu, seq = 6, op_id = 9", 110, 120, RangeKind::Nvtx);
  hand.range("autograd::engine::evaluate_function: ReluBackward0, op_id = 20", 200, 230, RangeKind::Nvtx, 1);
  hand.range("ReluBackward0, seq = 6, op_id = 21", 205, 225, RangeKind::Nvtx, 1);
  hand.range("autograd::engine::evaluate_function: AddmmBackward0, op_id = 22", 240, 290, RangeKind::Nvtx, 1);
  hand.range("AddmmBackward0, seq = 5, op_id = 23", 245, 280, RangeKind::Nvtx, 1);
  hand.range("aten::mm, op_id = 24", 250, 260, RangeKind::Nvtx, 1);
  hand.range("aten::sum, op_id = 25", 282, 288, RangeKind::Nvtx, 1);  // the engine's own, after the operator
  const Trace& trace = hand.finish();
  EXPECT_EQ(links_text(trace),
            "aten::relu, seq = 6, op_id = 9>ReluBackward0, seq = 6, op_id = 21"
            "[autograd::engine::evaluate_function: ReluBackward0, op_id = 20] "
            "aten::addmm, seq = 5, op_id = 8>AddmmBackward0, seq = 5, op_id = 23"
            "[autograd::engine::evaluate_function: AddmmBackward0, op_id = 22]");
  const ForwardBackward links(trace);
  for (const uint32_t row : {7u, 8u}) {
    ASSERT_NE(links.around(row), nullptr);
    EXPECT_EQ(links.around(row)->sequence, 5);
  }
}

TEST(ForwardBackward, AnOperatorThatTheEngineOnlySurroundsIsAForwardOne) {
  HandTrace hand;
  hand.range("autograd::engine::evaluate_function: CheckpointBackward, op_id = 1", 0, 100, RangeKind::Nvtx);
  hand.range("CheckpointBackward, seq = 1, op_id = 2", 5, 95, RangeKind::Nvtx);
  hand.range("aten::mul, seq = 7, op_id = 3", 10, 20, RangeKind::Nvtx);  // computed again
  hand.range("autograd::engine::evaluate_function: MulBackward0, op_id = 4", 30, 60, RangeKind::Nvtx);
  hand.range("MulBackward0, seq = 7, op_id = 5", 35, 55, RangeKind::Nvtx);
  EXPECT_EQ(
      links_text(hand.finish()),
      "?>CheckpointBackward, seq = 1, op_id = 2[autograd::engine::evaluate_function: CheckpointBackward, op_id = 1] "
      "aten::mul, seq = 7, op_id = 3>MulBackward0, seq = 7, op_id = 5"
      "[autograd::engine::evaluate_function: MulBackward0, op_id = 4]^2");
}

TEST(ForwardBackward, FollowsDoubleBackward) {
  HandTrace hand;
  hand.range("aten::mul, seq = 5", 0, 10, RangeKind::Nvtx);
  hand.range("MulBackward0, stashed seq = 5", 20, 40, RangeKind::Nvtx);
  hand.range("aten::mul, seq = 6", 25, 35, RangeKind::Nvtx);  // create_graph=True
  hand.range("MulBackward0, stashed seq = 6", 50, 70, RangeKind::Nvtx);
  hand.range("aten::mul, seq = 7", 55, 65, RangeKind::Nvtx);
  hand.range("MulBackward0, stashed seq = 7", 80, 90, RangeKind::Nvtx);
  EXPECT_EQ(links_text(hand.finish()),
            "aten::mul, seq = 5>MulBackward0, stashed seq = 5 aten::mul, seq = 6>MulBackward0, stashed seq = 6^2 "
            "aten::mul, seq = 7>MulBackward0, stashed seq = 7^3");
}

TEST(ForwardBackward, GivesBackwardOperatorsTheStackOfTheForwardOne) {
  HandTrace hand;
  hand.thread(0, 501);
  hand.range("train.py(3): main", 0, 1000, RangeKind::Python);
  hand.range("model.py(7): forward", 5, 90, RangeKind::Python);
  kineto(hand, "mul", 10, 20, 5);
  hand.range("torch/autograd/__init__.py(9): backward", 100, 900, RangeKind::Python);
  kineto(hand, "MulBackward0", 200, 220, 5, 1, 1);
  kineto(hand, "aten::mul", 205, 215, -1, 0, 1);
  kineto(hand, "AddBackward0", 230, 240, 9, 1, 1);
  kineto(hand, "other", 300, 310, -1);
  const Trace& trace = hand.finish();
  const ForwardBackward links(trace);
  const OpStacks stacks(trace, links);
  const auto stack = [&](const char* name, size_t most = SIZE_MAX) {
    std::string all;
    for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
      if (trace.range_name(trace.ranges[row]) != name) continue;
      for (const std::string_view frame : stacks.stack(row, most)) all += std::string(frame) + ";";
    }
    return all;
  };
  EXPECT_EQ(stack("mul"), "model.py(7): forward;train.py(3): main;");
  EXPECT_EQ(stack("mul", 1), "model.py(7): forward;");
  EXPECT_EQ(stack("MulBackward0"), "model.py(7): forward;train.py(3): main;");
  EXPECT_EQ(stack("aten::mul"), "model.py(7): forward;train.py(3): main;");
  EXPECT_EQ(stack("AddBackward0"), "");  // its forward operator is not in the trace
  EXPECT_EQ(stacks.frames_left_out(), 0u);
  EXPECT_EQ(stack("other"), "train.py(3): main;");
  EXPECT_EQ(stacks.frames_left_out(), 1u);  // autograd's backward()
}

TEST(ForwardBackward, ReportsTimesOfBothSidesAndTheirRatio) {
  HandTrace hand;
  hand.thread(0, 501);
  kineto(hand, "linear", 0, 100, 5);
  kineto(hand, "addmm", 10, 90, 5);
  hand.launch(20, 30, 1);
  hand.kernel(40, 60, 1);
  kineto(hand, "linear", 100, 140, 6);
  kineto(hand, "LinearBackward0", 200, 280, 6, 1, 1);
  kineto(hand, "LinearBackward0", 300, 400, 5, 1, 1);
  hand.launch(310, 320, 2, 1);
  hand.kernel(330, 380, 2);
  kineto(hand, "LostBackward0", 500, 510, 77, 1, 1);
  hand.finish();
  const Table table = hand.report(report_fwd_bwd);
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(tests::row_text(table, 0,
                            {"forward", "forward_count", "forward_cpu", "forward_gpu", "backward_count", "backward_cpu",
                             "backward_gpu", "cpu_ratio", "gpu_ratio", "several_candidates", "backward"}),
            "linear | 2 | 140 | 20 | 2 | 180 | 50 | 1.29 | 2.50 | 0 | LinearBackward0");
  EXPECT_EQ(tests::row_text(table, 1, {"forward", "forward_count", "backward_count", "backward_cpu", "gpu_ratio"}),
            "[no forward operator found] |  | 1 | 10 | ");
  EXPECT_EQ(table.notes.front(), "3 backward operators, 1 without a forward operator, 0 with several candidates");
}

}  // namespace
}  // namespace prof::analyzer
