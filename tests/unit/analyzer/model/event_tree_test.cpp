// The event tree: nesting, self times, merged and filtered events, and to which event GPU time and memory belong. Times
// in ns.
#include "analyzer/model/event_tree.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <chrono>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

struct Grown {
  explicit Grown(HandTrace& hand, EventTreeOptions options = {})
      : trace(hand.finish()), names(trace), tree(trace, names, options) {}
  const Trace& trace;
  EventNames names;
  EventTree tree;

  // "outer(10) inner<outer(4)": name, parent, self time, in preorder.
  std::string text() const {
    std::string all;
    for (uint32_t node = 0; node < tree.size(); ++node) {
      all += all.empty() ? "" : " ";
      all += names.text(tree.name(node));
      if (tree[node].parent != kNone) all += "<" + std::string(names.text(tree.name(tree[node].parent)));
      all += "(" + std::to_string(tree.self_ns(node)) + ")";
    }
    return all;
  }
  DeviceTimes device(bool at_calls = true) const {
    return device_times(trace, tree, at_calls, [](const GpuOperation&) { return true; });
  }
  uint32_t node(std::string_view name) const {
    for (uint32_t node = 0; node < tree.size(); ++node) {
      if (names.text(tree.name(node)) == name) return node;
    }
    ADD_FAILURE() << "no node " << name;
    return 0;
  }
};

TEST(EventTree, NestsRangesAndCallsOfAThreadByTime) {
  HandTrace hand;
  hand.thread(0, 501);
  hand.range("outer", 0, 100);
  hand.range("inner", 10, 60);
  hand.launch(20, 30, 1);
  hand.call("cudaFree", 70, 80);
  hand.range("elsewhere", 20, 30, RangeKind::Operator, 1);
  EXPECT_EQ(Grown(hand).text(),
            "outer(40) inner<outer(40) cudaLaunchKernel<inner(10) cudaFree<outer(10) elsewhere(10)");
}

TEST(EventTree, TakesPartialOverlapForNoChildAndCountsTheCommonPartOnce) {
  HandTrace hand;
  hand.range("outer", 0, 100);
  hand.range("first", 10, 50);
  hand.range("second", 30, 70);   // crosses the end of first
  hand.range("third", 40, 45);    // inside both: child of second, which began last
  hand.range("after", 100, 100);  // begins when outer ends
  EXPECT_EQ(Grown(hand).text(), "outer(40) first<outer(40) second<outer(35) third<second(5) after(0)");
}

TEST(EventTree, MergesOnlyChildrenOfTheSameName) {
  HandTrace hand;
  hand.range("layer_norm", 0, 100);
  hand.range("layer_norm", 10, 90);
  hand.range("layer_norm", 20, 80);
  hand.range("native", 30, 40);
  hand.range("two", 200, 300);
  hand.range("two", 210, 220);
  hand.range("two", 230, 240);
  const Grown grown(hand);
  EXPECT_EQ(grown.text(), "layer_norm(90) native<layer_norm(10) two(80) two<two(10) two<two(10)");
  EXPECT_EQ(grown.tree.merged(), 2u);
  EXPECT_EQ(grown.tree.of_range(2), 0u);  // the innermost of the merged chain is now its outermost
  EXPECT_EQ(grown.tree.of_range(3), 1u);
  HandTrace apart;
  apart.range("a", 0, 10);
  apart.range("a", 1, 9);
  EXPECT_EQ(Grown(apart, {.merge = false}).text(), "a(2) a<a(8)");
}

TEST(EventTree, MergesRangesThatDifferOnlyInNumbersOfEmitNvtx) {
  HandTrace hand;
  hand.range("aten::mm, seq = 1", 0, 10, RangeKind::Nvtx);
  hand.range("aten::mm, seq = 2, op_id = 9", 1, 9, RangeKind::Nvtx);
  hand.range("ProfilerStep#3", 20, 30, RangeKind::Annotation);
  EXPECT_EQ(Grown(hand).text(), "aten::mm(10) ProfilerStep*(10)");
}

TEST(EventTree, LeavesBookkeepingOperatorsOutAndThePythonFunctionsUnlessAskedFor) {
  HandTrace hand;
  hand.range("train", 0, 100, RangeKind::Python);
  hand.range("aten::is_leaf", 10, 40);
  hand.range("aten::mul", 20, 30);
  EXPECT_EQ(Grown(hand).text(), "aten::mul(10)");
  HandTrace again;
  again.range("train", 0, 100, RangeKind::Python);
  again.range("aten::_version", 10, 40);
  again.range("aten::mul", 20, 30);
  const Grown grown(again, {.python = true});
  EXPECT_EQ(grown.text(), "train(90) aten::mul<train(10)");
  EXPECT_EQ(grown.tree.filtered(), 1u);
  EXPECT_EQ(grown.tree.of_range(1), kNone);
}

TEST(EventTree, KeepsTheProfilersOwnWorkApart) {
  HandTrace hand;
  hand.range("op", 0, 100);
  hand.range("Activity Buffer Request", 10, 60, RangeKind::Overhead);
  hand.launch(20, 30, 1);
  hand.kernel(40, 45, 1);
  const Grown grown(hand);
  EXPECT_EQ(grown.text(), "op(90) Activity Buffer Request(50) cudaLaunchKernel<op(10)");
  EXPECT_EQ(grown.device().self_ns[grown.node("op")], 5);
  EXPECT_EQ(grown.device().total_ns[grown.node("Activity Buffer Request")], 0);
}

TEST(EventTree, CountsEachOperationOnceAtTheInnermostRangeAroundItsLaunch) {
  HandTrace hand;
  hand.range("outer", 0, 100);
  hand.range("inner", 10, 60);
  hand.launch(20, 30, 1);
  hand.call("cudaGraphLaunch", 70, 80, 2);
  hand.launch(200, 210, 3);
  hand.kernel(40, 45, 1);
  hand.kernel(80, 90, 2), hand.kernel(90, 93, 2);  // one launch, two operations
  hand.kernel(220, 227, 3);
  hand.kernel(300, 310, 4);  // no launch recorded
  const Grown grown(hand);
  const DeviceTimes times = grown.device();
  EXPECT_EQ(times.self_ns[grown.node("inner")], 5);
  EXPECT_EQ(times.self_ns[grown.node("outer")], 13);
  EXPECT_EQ(times.total_ns[grown.node("outer")], 18);
  EXPECT_EQ(times.self_ns[grown.tree.of_call(0)], 0);
  EXPECT_EQ(times.self_ns[grown.tree.of_call(2)], 7);  // in no range: the time belongs to the call
  EXPECT_EQ(grown.device(false).self_ns[grown.tree.of_call(2)], 0);
}

TEST(EventTree, GivesAllocationsToTheInnermostEventOfTheirThread) {
  HandTrace hand;
  hand.thread(0, 501);
  hand.range("outer", 0, 100);
  hand.range("inner", 10, 60);
  hand.range("other", 20, 50, RangeKind::Operator, 1);
  hand.memory(20, 64, 1);          // both ends of a range are part of it
  hand.memory(60, 32, 2);          // inner's end
  hand.memory(70, -8, 3, kNone);   // host memory
  hand.memory(30, 1000, 4, 0, 1);  // other thread
  hand.memory(150, -64, 1);        // in nothing
  const Grown grown(hand);
  const NodeMemory own = node_memory(grown.trace, grown.tree, false);
  const uint32_t outer = grown.node("outer"), inner = grown.node("inner"), other = grown.node("other");
  EXPECT_EQ(own.self[inner].device, 96);
  EXPECT_EQ(own.self[outer].device, 0);
  EXPECT_EQ(own.total[outer].device, 96);
  EXPECT_EQ(own.total[outer].host, -8);
  EXPECT_EQ(own.self[other].device, 1000);
  EXPECT_EQ(own.outside.size(), 1u);
  // As torch.autograd.profiler counts: everything in the process that happened during the range.
  const NodeMemory any = node_memory(grown.trace, grown.tree, true);
  EXPECT_EQ(any.total[outer].device, 1096);
  EXPECT_EQ(any.total[inner].device, 1096);
  EXPECT_EQ(any.self[outer].device, 0);
  EXPECT_EQ(any.total[other].device, 1064);
  EXPECT_EQ(any.outside.size(), 1u);
}

TEST(EventTree, SurvivesTimesBeyondTheScale) {
  HandTrace hand;
  hand.range("all", 0, INT64_MAX);
  hand.range("reversed", 50, 10);
  hand.launch(100, INT64_MAX, 1);
  for (int64_t start = 0; start < 3; ++start) hand.kernel(start, INT64_MAX, 1);
  const Grown grown(hand);
  EXPECT_EQ(grown.text(), "all(100) reversed<all(0) cudaLaunchKernel<all(4611686018427387803)");
  EXPECT_EQ(grown.device().self_ns[0], 0);  // no operation lasts for years: these are left out
}

// Nested, crossing and repeated names: the inputs on which a careless tree is quadratic.
double seconds_for(uint32_t events) {
  HandTrace hand;
  const auto n = static_cast<int64_t>(events);
  hand.trace.labels.emplace_back().text = hand.trace.strings.intern("same");
  const auto add = [&](int64_t begin, int64_t end) {
    Range row;
    row.begin_ns = begin, row.end_ns = end, row.kind = RangeKind::Operator, row.label = LabelId{1};
    hand.trace.ranges.push_back(row);
  };
  for (int64_t i = 0; i < n; ++i) add(i, 4 * n - i);              // a chain of depth n: all merge
  for (int64_t i = 0; i < n; ++i) add(5 * n + i, 6 * n + 2 * i);  // each crosses the next
  for (int64_t i = 0; i < n; ++i) add(10 * n + 2 * i, 10 * n + 2 * i + 1);
  const auto begin = std::chrono::steady_clock::now();
  hand.finish();  // which nests ranges too
  const EventNames names(hand.trace);
  const EventTree tree(hand.trace, names);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(tree.merged(), events - 1);
  return took.count();
}

TEST(EventTree, TakesTwiceTheTimeForTwiceTheEvents) {
  double best = 1e9;
  for (int attempt = 0; attempt < 10 && best > 2.3; ++attempt) {
    double once = 1e9, twice = 1e9;
    for (int i = 0; i < 3; ++i)
      once = std::min(once, seconds_for(100'000)), twice = std::min(twice, seconds_for(200'000));
    best = std::min(best, twice / once);
  }
  EXPECT_LE(best, 2.3);
}

}  // namespace
}  // namespace prof::analyzer
