// Which begin and which end make a range?
#include "analyzer/input/kineto/kineto_range_pairs.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace prof::analyzer {
namespace {

class KinetoPairs : public ::testing::Test {
 protected:
  Trace trace;
  KinetoRangePairs pairs;
  KinetoSummary summary;

  void add(KinetoEdgeKind edge, int64_t time_ns, uint32_t label = 0, uint32_t thread = 0, std::string_view key = "") {
    pairs.add({time_ns, 0, ThreadId{thread}, LabelId{label}, trace.strings.intern(key), edge, RangeKind::Annotation});
  }
  // "label begin..end" of each range, "!" after an unfinished one, in the order of their begins.
  std::string closed(int64_t last_ns = 100) {
    pairs.close(last_ns, trace, summary);
    std::vector<Range> ranges(trace.ranges.begin(), trace.ranges.end());
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.path < b.path; });
    std::string text;
    for (const Range& range : ranges)
      text +=
          fmt::format("{} {}..{}{}; ", index(range.label), range.begin_ns, range.end_ns, range.unfinished ? "!" : "");
    return text;
  }
  std::string set_aside() const {
    Process process;
    summary.write({}, {}, {}, "t", process);
    return std::string(process.fact("skipped")) + std::string(process.fact("changed"));
  }
};

TEST_F(KinetoPairs, NestOnTheirThread) {
  add(KinetoEdgeKind::NestedBegin, 1, 1);
  add(KinetoEdgeKind::NestedBegin, 2, 2);
  add(KinetoEdgeKind::NestedEnd, 3, 0, 1);  // of another thread
  add(KinetoEdgeKind::NestedEnd, 4);
  add(KinetoEdgeKind::NestedEnd, 5);
  EXPECT_EQ(closed(), "1 1..5; 2 2..4; ");
  EXPECT_EQ(set_aside(), "1 ends of ranges that have no begin");
  EXPECT_EQ(trace.ranges[0].style, RangeStyle::PushPop);
}

TEST_F(KinetoPairs, AreInOrderOfTimeThenOfTheFile) {
  add(KinetoEdgeKind::NestedEnd, 3);
  add(KinetoEdgeKind::NestedBegin, 3, 2);
  add(KinetoEdgeKind::NestedEnd, 3);
  add(KinetoEdgeKind::NestedBegin, 1, 1);
  EXPECT_EQ(closed(), "2 3..3; 1 1..3; ");
  EXPECT_EQ(set_aside(), "");
}

TEST_F(KinetoPairs, LastUntilTheLastEventWithoutAnEnd) {
  add(KinetoEdgeKind::NestedBegin, 1, 1);
  add(KinetoEdgeKind::AsyncBegin, 200, 2, 0, "x");
  EXPECT_EQ(closed(100), "1 1..100!; 2 200..200!; ");
  EXPECT_EQ(set_aside().substr(0, 28), "2 ranges that are never clos");
}

TEST_F(KinetoPairs, EndWithTheirCallerIfOnlyThatOneIsClosed) {
  trace.processes.emplace_back();
  trace.threads.emplace_back();
  for (const char* const name : {"outer", "inner"}) trace.labels.emplace_back().text = trace.strings.intern(name);
  add(KinetoEdgeKind::NestedBegin, 1, 1);
  add(KinetoEdgeKind::NestedBegin, 2, 2);
  add(KinetoEdgeKind::NestedEnd, 5, 1);
  add(KinetoEdgeKind::NestedBegin, 6, 2);
  add(KinetoEdgeKind::NestedEnd, 7);
  EXPECT_EQ(closed(), "1 1..5; 2 2..5!; 2 6..7; ");
  EXPECT_EQ(trace.processes[0].coverage.ranges_closed_early, 1u);
}

TEST_F(KinetoPairs, OfOneKeyCloseByName) {
  add(KinetoEdgeKind::AsyncBegin, 1, 1, 0, "x");
  add(KinetoEdgeKind::AsyncBegin, 2, 2, 0, "x");
  add(KinetoEdgeKind::AsyncBegin, 2, 1, 0, "y");
  add(KinetoEdgeKind::AsyncEnd, 3, 1, 5, "x");  // ends on another thread
  add(KinetoEdgeKind::AsyncEnd, 4, 9, 0, "x");  // a name that is not open ends the latest
  add(KinetoEdgeKind::AsyncEnd, 5, 1, 0, "y");
  EXPECT_EQ(closed(), "1 1..3; 2 2..4; 1 2..5; ");
  EXPECT_EQ(trace.ranges[0].style, RangeStyle::StartEnd);
}

}  // namespace
}  // namespace prof::analyzer
