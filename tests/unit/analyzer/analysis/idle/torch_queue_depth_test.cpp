// The published heuristic, including its defects, on PyTorch's own mock; expected values are those of that project.
#include "analyzer/analysis/idle/torch_queue_depth.h"
#include "tests/unit/analyzer/analysis/idle/heuristic_mock.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

TEST(TorchQueueDepth, GivesTheDepthsAndIdleTimesOfTheMock) {
  HandTrace hand;
  tests::fill_heuristic_mock(hand);
  const TorchQueueDepth queue(hand.trace, hand.views());
  std::vector<uint32_t> depths;
  for (const TorchQueueDepth::Point& point : queue.points()) depths.push_back(point.depth);
  EXPECT_EQ(depths, (std::vector<uint32_t>{1, 2, 3, 4, 5, 4, 3, 2, 1, 0, 1, 0}));
  std::vector<uint32_t> at_ops;
  std::vector<int64_t> idle_ns;
  for (uint32_t row = 0; row < hand.trace.ranges.size(); ++row) {
    at_ops.push_back(queue.depth_at(row));
    const Range& range = hand.trace.ranges[row];
    idle_ns.push_back(queue.idle().overlap_ns(range.begin_ns, range.end_ns));
  }
  EXPECT_EQ(at_ops, (std::vector<uint32_t>{0, 0, 0, 0, 1, 2, 3, 4, 5, 4, 2, 1}));
  EXPECT_EQ(idle_ns, (std::vector<int64_t>{100000, 100000, 100000, 100000, 0, 0, 0, 0, 0, 0, 0, 100000}));
}

TEST(TorchQueueDepth, SearchesPastAZeroThatHasNoPeakBeforeIt) {
  HandTrace hand;
  tests::fill_heuristic_mock(hand);
  const TorchQueueDepth queue(hand.trace, hand.views());
  EXPECT_EQ(queue.falling(), (std::vector<Interval>{{800'000, 1'700'000}, {800'000, 1'300'000}}));
}

TEST(TorchQueueDepth, LeavesOutTheZeroAtWhichItsSearchEnded) {
  HandTrace hand;
  // Two times: five launches, then their kernels. Each time the queue falls from 5 to 0.
  uint32_t id = 0;
  for (const int64_t base : {0, 10'000}) {
    for (int64_t i = 0; i < 5; ++i) hand.launch(base + 10 * i, base + 10 * i + 5, ++id);
    for (int64_t i = 0; i < 5; ++i)
      hand.kernel(base + 100 + 10 * i, base + 110 + 10 * i, id - 4 + static_cast<uint32_t>(i));
  }
  hand.finish();
  const TorchQueueDepth queue(hand.trace, hand.views());
  EXPECT_EQ(queue.falling(), (std::vector<Interval>{{10'040, 10'140}})) << "the fall from 40 to 140 is missed";
}

TEST(TorchQueueDepth, CountsOverlapsAsPublished) {
  std::vector<Interval> intervals{{0, 9}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {8, 12}};
  EXPECT_EQ(reference_overlap_ns({5, 10}, intervals), 5);
  EXPECT_EQ(intervals.back(), (Interval{9, 12})) << "its begin is moved for good";
  std::vector<Interval> skipped{{0, 10}, {1, 2}, {20, 30}, {40, 50}};
  EXPECT_EQ(reference_overlap_ns({0, 60}, skipped), 20) << "30 would be right";
  EXPECT_EQ(reference_counted(skipped).length_ns(), 20);
  EXPECT_EQ(IntervalSet(skipped).length_ns(), 30);
}

TEST(TorchQueueDepth, MatchesSeveralLaunchesOfOneOpToItsFirstKernel) {
  HandTrace hand;
  hand.range("aten::op", 0, 100);
  hand.launch(10, 15, 1);
  hand.launch(20, 25, 2);
  hand.launch(30, 35, 3);
  hand.kernel(200, 210, 1);
  hand.kernel(210, 220, 2);
  hand.kernel(220, 230, 3);
  hand.finish();
  const TorchQueueDepth queue(hand.trace, hand.views());
  std::vector<uint32_t> depths;
  for (const TorchQueueDepth::Point& point : queue.points()) depths.push_back(point.depth);
  EXPECT_EQ(depths, (std::vector<uint32_t>{1, 1, 1, 0, 0, 0})) << "1, 2, 3, 2, 1, 0 would be right";
}

TEST(TorchQueueDepth, KnowsKernelsByTheirNames) {
  HandTrace hand;
  hand.launch(0, 5, 1);
  hand.launch(10, 15, 2);
  hand.kernel(100, 110, 1, 0, "unrolled_elementwise_kernel<memory::LoadWithCast>");
  hand.kernel(110, 120, 2, 0, "gemm");
  hand.finish();
  const TorchQueueDepth queue(hand.trace, hand.views());
  EXPECT_EQ(queue.points().size(), 3u) << "the kernel with \"mem\" in its name is none";
}

}  // namespace
}  // namespace prof::analyzer
