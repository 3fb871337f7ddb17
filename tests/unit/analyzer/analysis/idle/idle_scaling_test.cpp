// Twice the input takes twice the time: the cost of gaps, of op-idle and of the queue depth grows as n log n.
#include "analyzer/analysis/idle/gap_division.h"
#include "analyzer/analysis/idle/gaps.h"
#include "analyzer/reports/reports.h"
#include "tests/unit/analyzer/analysis/scaling.h"

namespace prof::analyzer {
namespace {

using tests::HandTrace;

// Steps of eight nested ops, each with a launch and a kernel on one of three streams; there is a gap after most
// kernels.
void run_steps(HandTrace& hand, uint32_t count) {
  const uint32_t streams[] = {0, hand.stream(0, 13), hand.stream(0, 14)};
  uint32_t id = 0;
  for (int64_t step = 0; step < count; ++step) {
    const int64_t begin = step * 10'000;
    for (int64_t level = 0; level < 8; ++level) {
      hand.range(level % 2 == 0 ? "outer" : "inner", begin + level * 100, begin + 9900 - level * 100);
      hand.launch(begin + 1000 + level * 900, begin + 1200 + level * 900, ++id);
      hand.kernel(begin + 1300 + level * 900, begin + 1500 + level * 1000, id, streams[id % 3]);
    }
    hand.call("cudaStreamSynchronize", begin + 8500, begin + 9500);
  }
}

// Everything is launched before anything runs, on as many streams as there are rounds of eight.
void deep_queues(HandTrace& hand, uint32_t count) {
  uint32_t stream = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (i % 8 == 0) stream = hand.stream(0, 100 + i);
    hand.launch(10 * int64_t{i}, 10 * int64_t{i} + 8, i + 1);
    hand.kernel(10 * int64_t{count} + 100 * (i % 8), 10 * int64_t{count} + 100 * (i % 8) + 90, i + 1, stream);
  }
}

// The number of steps is exact, so it does not depend on what else the machine runs.
TEST(Scaling, GapsGrowWithTheInput) {
  const auto steps_of = [](uint32_t size, auto&& work) {
    HandTrace hand;
    run_steps(hand, size);
    hand.finish();
    return work(hand);
  };
  const auto divided = [](HandTrace& hand) {
    uint64_t gaps = 0;
    const uint64_t count = divide_gaps(hand.trace, hand.views(), hand.selection, {0, INT64_MAX / 2},
                                       [&](const DeviceGap&, std::span<const GapPiece>) { ++gaps; });
    EXPECT_GT(gaps, hand.trace.operations.size() / 2);
    EXPECT_GT(count, hand.trace.operations.size());
    return count;
  };
  const auto caused = [](HandTrace& hand) {
    uint64_t count = 0;
    EXPECT_GT(find_gaps(hand.trace, hand.views(), hand.selection, {0, INT64_MAX / 2}, &count).size(),
              hand.trace.operations.size() / 2);
    return count;
  };
  EXPECT_LE(steps_of(2000, divided), 2 * steps_of(1000, divided) + 100);
  EXPECT_LE(steps_of(2000, caused), 2 * steps_of(1000, caused) + 100);
}

TEST(Scaling, IdleTimeOfOpsGrowsWithTheInput) {
  EXPECT_LE(
      tests::growth(5000, run_steps, [](const AnalysisInput& input) { ASSERT_EQ(report_op_idle(input).rows(), 2u); }),
      tests::kMostGrowth);
}

TEST(Scaling, QueueDepthGrowsWithTheInputAndItsStreams) {
  for (const auto fill : {run_steps, deep_queues}) {
    EXPECT_LE(
        tests::growth(8000, fill, [](const AnalysisInput& input) { ASSERT_GT(report_queue_depth(input).rows(), 3u); }),
        tests::kMostGrowth);
  }
}

}  // namespace
}  // namespace prof::analyzer
