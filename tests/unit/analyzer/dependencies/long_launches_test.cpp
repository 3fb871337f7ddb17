// Which launch calls count as blocked: those of more than five times the median of their name.
#include "analyzer/dependencies/long_launches.h"

#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

// One letter for each call in order: L if it is long.
std::string long_calls(HandTrace& hand, std::string_view wanted_api = "cudaLaunchKernel") {
  const Trace& trace = hand.finish();
  std::vector<bool> wanted(trace.apis.size());
  for (const HostEvent& event : trace.host) {
    if (trace.api_name(event) == wanted_api) wanted[event.api()] = true;
  }
  const LongLaunches launches(trace, wanted);
  std::string letters;
  for (const HostEvent& event : trace.host) letters += launches.is_long(event) ? 'L' : '-';
  return letters;
}

void calls(HandTrace& hand, std::string_view api, const std::vector<int64_t>& durations) {
  for (const int64_t ns : durations) {
    const int64_t begin = hand.trace.host.empty() ? 0 : hand.trace.host.back().end_ns + 1;
    hand.call(api, begin, begin + ns, static_cast<uint32_t>(hand.trace.host.size() + 1));
  }
}

TEST(LongLaunches, AreMoreThanFiveTimesTheMedian) {
  HandTrace of_three;  // median 10
  calls(of_three, "cudaLaunchKernel", {2, 10, 50});
  EXPECT_EQ(long_calls(of_three), "---");
  HandTrace longer;
  calls(longer, "cudaLaunchKernel", {2, 51, 10});
  EXPECT_EQ(long_calls(longer), "-L-");
  HandTrace of_four;  // the lower one of the two in the middle: 4
  calls(of_four, "cudaLaunchKernel", {2, 10, 4, 21});
  EXPECT_EQ(long_calls(of_four), "---L");
  HandTrace of_seven;
  calls(of_seven, "cudaLaunchKernel", {1, 1, 1, 10, 10, 45, 60});
  EXPECT_EQ(long_calls(of_seven), "------L");
}

TEST(LongLaunches, NoneIfThereIsOneCallOfItsName) {
  HandTrace hand;
  calls(hand, "cudaLaunchKernel", {1'000'000});
  EXPECT_EQ(long_calls(hand), "-");
}

TEST(LongLaunches, EachNameHasItsOwnMedianAndOthersHaveNone) {
  HandTrace hand;
  calls(hand, "cudaLaunchKernel", {10, 10, 10, 60});
  calls(hand, "cudaGraphLaunch", {100, 100, 100, 400, 600});
  EXPECT_EQ(long_calls(hand), "---L-----");
  HandTrace graphs;
  calls(graphs, "cudaLaunchKernel", {10, 10, 10, 60});
  calls(graphs, "cudaGraphLaunch", {100, 100, 100, 400, 600});
  EXPECT_EQ(long_calls(graphs, "cudaGraphLaunch"), "--------L");
}

}  // namespace
}  // namespace prof::analyzer
