// Twice the input, twice the work: the cost of gaps and of op-idle grows as n log n. Time of the thread's own CPU, the least
// of several runs, and several attempts, so that a loaded machine does not decide; what is quadratic fails them all.
#include "analyzer/analysis/gaps.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

int64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// Steps of eight ops in each other, each with a launch and a kernel on one of three streams; a gap behind most kernels.
void fill(HandTrace& hand, uint32_t steps) {
  const uint32_t streams[] = {0, hand.stream(0, 13), hand.stream(0, 14)};
  uint32_t id = 0;
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t begin = step * 10'000;
    for (int64_t level = 0; level < 8; ++level) {
      hand.range(level % 2 == 0 ? "outer" : "inner", begin + level * 100, begin + 9900 - level * 100);
      hand.launch(begin + 1000 + level * 900, begin + 1200 + level * 900, ++id);
      hand.kernel(begin + 1300 + level * 900, begin + 1500 + level * 1000, id, streams[id % 3]);
    }
    hand.call("cudaStreamSynchronize", begin + 8500, begin + 9500);
  }
  hand.finish();
}

template <class Work> int64_t least_cpu_ns(uint32_t steps, Work work) {
  int64_t least = INT64_MAX;
  HandTrace hand;
  fill(hand, steps);
  for (int run = 0; run < 3; ++run) {
    const Views views(hand.trace);
    const AnalysisInput input{hand.trace, views, hand.selection, hand.options};
    const int64_t before = cpu_ns();
    work(input);
    least = std::min(least, cpu_ns() - before);
  }
  return least;
}

template <class Work> void expect_linear(Work work) {
  double ratio = 0;
  for (int attempt = 0; attempt < 6; ++attempt) {
    ratio = static_cast<double>(least_cpu_ns(10'000, work)) / static_cast<double>(least_cpu_ns(5'000, work));
    if (ratio <= 2.3) return;
  }
  ADD_FAILURE() << "twice the input took " << ratio << " times as long";
}

TEST(Scaling, GapsGrowWithTheInput) {
  expect_linear([](const AnalysisInput& input) {
    const std::vector<Gap> gaps = find_gaps(input.trace, input.views, input.selection, {0, INT64_MAX / 2});
    ASSERT_GT(gaps.size(), 20'000u);
  });
}

TEST(Scaling, IdleTimeOfOpsGrowsWithTheInput) {
  expect_linear([](const AnalysisInput& input) { ASSERT_EQ(report_op_idle(input).rows(), 2u); });
}

}  // namespace
}  // namespace prof::analyzer
