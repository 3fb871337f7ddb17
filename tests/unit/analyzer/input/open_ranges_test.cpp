// Where do functions and ranges without an end stop?
#include "analyzer/input/open_ranges.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace prof::analyzer {
namespace {

class OpenRangesOfAThread : public ::testing::Test {
 protected:
  Trace trace;

  Range& add(int64_t begin_us, int64_t end_us, RangeKind kind = RangeKind::Python) {
    Range range;
    range.begin_ns = begin_us * 1000;
    range.end_ns = end_us * 1000;
    range.kind = kind;
    trace.ranges.push_back(range);
    return trace.ranges.back();
  }
  // "begin..end" of each range in microseconds, "!" after one that was closed.
  std::string closed() {
    const uint64_t count = close_open_ranges(trace, {0, static_cast<uint32_t>(trace.ranges.size())});
    std::string text;
    uint64_t marked = 0;
    for (const Range& range : trace.ranges) {
      text += fmt::format("{}..{}{} ", range.begin_ns / 1000, range.end_ns / 1000, range.closed_early ? "!" : "");
      marked += range.closed_early && range.unfinished ? 1 : 0;
    }
    EXPECT_EQ(marked, count);
    return text;
  }
};

TEST_F(OpenRangesOfAThread, AFunctionEndsAtTheLatestWithItsCaller) {
  add(0, 90);
  add(5, 480);
  add(200, 300);
  EXPECT_EQ(closed(), "0..90 5..90! 200..300 ");
}

TEST_F(OpenRangesOfAThread, CalleesOfAFunctionWithoutEndStopWithItsCallerToo) {
  add(0, 90);
  add(5, 480);
  add(10, 480);
  EXPECT_EQ(closed(), "0..90 5..90! 10..90! ");
}

TEST_F(OpenRangesOfAThread, AFunctionWithoutCallerStaysAsItIs) {
  add(0, 480);
  add(5, 480);
  EXPECT_EQ(closed(), "0..480 5..480 ");
}

TEST_F(OpenRangesOfAThread, RoundedTimesAreNoMissingEnd) {
  add(0, 90);
  add(5, 91);
  EXPECT_EQ(closed(), "0..90 5..91 ");
}

// An asynchronous operator may outlast the function that called it.
TEST_F(OpenRangesOfAThread, AnOperatorMayOutlastItsCaller) {
  add(0, 90);
  add(5, 480, RangeKind::Annotation);
  add(100, 200);
  EXPECT_EQ(closed(), "0..90 5..480 100..200 ");
}

TEST_F(OpenRangesOfAThread, ARangeThatWasNeverClosedEndsWithTheRangeAroundIt) {
  add(0, 90, RangeKind::Operator);
  add(5, 480, RangeKind::Annotation).unfinished = true;
  add(100, 480, RangeKind::Annotation).unfinished = true;
  EXPECT_EQ(closed(), "0..90 5..90! 100..480 ");
}

}  // namespace
}  // namespace prof::analyzer
