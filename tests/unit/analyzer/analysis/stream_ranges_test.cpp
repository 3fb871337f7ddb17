// NVTX ranges as each stream sees them.
#include "analyzer/analysis/stream_ranges.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace prof::analyzer {
namespace {

constexpr RangeKind kNvtx = RangeKind::Nvtx;

std::string text_of(const Trace& trace) {
  std::string text;
  for (const StreamRange& range : ranges_on_streams(trace)) {
    text += std::string(trace.range_name(trace.ranges[range.range])) + " on " +
            std::to_string(trace.streams[range.stream].number) + ": " + std::to_string(range.start_ns) + " to " +
            std::to_string(range.end_ns) + "; ";
  }
  return text;
}

TEST(StreamRanges, AreFromTheFirstToTheLastOperationLaunchedInsideTheOutermostFirst) {
  tests::HandTrace hand;
  hand.stream(0, 8);
  hand.range("step", 0, 60, kNvtx);
  hand.range("model", 10, 40, kNvtx);
  hand.launch(1, 2, 1);
  hand.launch(11, 12, 2);
  hand.launch(13, 14, 3);
  hand.launch(39, 41, 4);
  hand.launch(40, 45, 5);
  hand.launch(60, 61, 6);  // the step has ended
  hand.kernel(100, 110, 1);
  hand.kernel(110, 120, 2);
  hand.kernel(150, 170, 3, 1);
  hand.kernel(120, 130, 4);
  hand.kernel(180, 190, 5, 1);
  hand.kernel(200, 210, 6);
  EXPECT_EQ(text_of(hand.finish()),
            "step on 7: 100 to 130; model on 7: 110 to 130; step on 8: 150 to 190; model on 8: 150 to 170; ");
}

TEST(StreamRanges, AreOfTheThreadThatLaunchedAndOfNoOther) {
  tests::HandTrace hand;
  const uint32_t other = hand.thread(0, 501);
  hand.range("mine", 0, 50, kNvtx);
  hand.range("other's", 10, 30, kNvtx, other);
  hand.launch(11, 12, 1);
  hand.launch(12, 13, 2, other);
  hand.kernel(100, 110, 1);
  hand.kernel(110, 120, 2);
  EXPECT_EQ(text_of(hand.finish()), "mine on 7: 100 to 110; other's on 7: 110 to 120; ");
}

TEST(StreamRanges, AreWhatTheProgramAnnotatedNotOperatorsPythonOrLibraryCalls) {
  tests::HandTrace hand;
  hand.range("annotation", 0, 50, RangeKind::Annotation);
  hand.range("aten::mm", 1, 49, RangeKind::Operator);
  hand.range("forward", 2, 48, RangeKind::Python);
  hand.range("cublasSgemm_v2(m=1)", 3, 47, kNvtx);
  hand.trace.labels.back().domain = hand.trace.strings.intern("library");
  hand.launch(11, 12, 1);
  hand.kernel(100, 110, 1);
  EXPECT_EQ(text_of(hand.finish()), "annotation on 7: 100 to 110; ");
}

// Compares every range with every launch, for ranges that nest, touch and, in two domains, cross.
TEST(StreamRanges, AgreeWithTheDefinitionHoweverRangesLie) {
  std::mt19937 random(7);
  const auto below = [&](int64_t limit) { return static_cast<int64_t>(random() % static_cast<uint64_t>(limit)); };
  for (int round = 0; round < 200; ++round) {
    tests::HandTrace hand;
    hand.stream(0, 8);
    const int64_t length = 1 + below(60);
    hand.range("all", 0, length, kNvtx);
    for (int i = 0; i < 12; ++i) {
      const int64_t begin = below(length), end = begin + below(length);
      hand.range(std::to_string(i), begin, end, kNvtx);
    }
    for (uint32_t launch = 0; launch < 15; ++launch) {
      const int64_t begin = below(2 * length), start = 1000 + below(500);
      hand.launch(begin, begin + 1, launch + 1);
      hand.kernel(start, start + below(50), launch + 1, static_cast<uint32_t>(below(2)));
    }
    const Trace& trace = hand.finish();
    std::map<std::pair<uint32_t, uint32_t>, std::pair<int64_t, int64_t>> expected, got;
    for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
      for (const GpuOperation& operation : trace.operations) {
        const int64_t launched = trace.host[operation.launch].begin_ns;
        if (launched < trace.ranges[row].begin_ns || launched >= trace.ranges[row].end_ns) continue;
        const auto [at, added] =
            expected.try_emplace({row, operation.stream_index}, operation.start_ns, operation.end_ns);
        at->second = {std::min(at->second.first, operation.start_ns), std::max(at->second.second, operation.end_ns)};
      }
    }
    for (const StreamRange& range : ranges_on_streams(trace))
      EXPECT_TRUE(got.try_emplace({range.range, range.stream}, range.start_ns, range.end_ns).second);
    EXPECT_EQ(got, expected) << round;
  }
}

}  // namespace
}  // namespace prof::analyzer
