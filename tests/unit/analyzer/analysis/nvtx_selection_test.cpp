// --nvtx: which events belong to ranges of a name, computed by hand. Every report obeys the option or gives the reason
// why it does not.
#include "analyzer/analysis/nvtx_selection.h"
#include "analyzer/base/sink.h"
#include "analyzer/reports/reports.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

NvtxSelection selection_of(HandTrace& hand, const std::vector<std::string>& words, bool captured = false) {
  return NvtxSelection(words, hand.trace, hand.views(), captured);
}

// Start times of the calls that belong, as "10 25 40".
std::string calls(HandTrace& hand, const std::vector<std::string>& words) {
  const NvtxSelection selection = selection_of(hand, words);
  std::string text;
  for (uint32_t row = 0; row < hand.trace.host.size(); ++row) {
    if (selection.has_call(row)) text += (text.empty() ? "" : " ") + std::to_string(hand.trace.host[row].begin_ns);
  }
  return text;
}

// Names of the ranges that belong, in the order of the model.
std::string ranges(HandTrace& hand, const std::vector<std::string>& words) {
  const NvtxSelection selection = selection_of(hand, words);
  std::string text;
  for (uint32_t row = 0; row < hand.trace.ranges.size(); ++row) {
    if (selection.has_range(row))
      text += (text.empty() ? "" : " ") + std::string(hand.trace.range_name(hand.trace.ranges[row]));
  }
  return text;
}

TEST(NvtxSelection, ACallBelongsFromTheBeginOfARangeToBeforeItsEnd) {
  HandTrace hand;
  for (const int64_t begin : {0, 9, 10, 19, 20, 30, 49, 50}) hand.call("cudaFree", begin, begin + 5);
  hand.range("step", 10, 20, RangeKind::Nvtx);
  hand.range("step", 30, 50, RangeKind::Nvtx);
  hand.range("other", 0, 60, RangeKind::Nvtx);
  hand.finish();
  EXPECT_EQ(calls(hand, {"step"}), "10 19 30 49");
  EXPECT_EQ(calls(hand, {"other"}), "0 9 10 19 20 30 49 50");
  EXPECT_EQ(calls(hand, {}), "0 9 10 19 20 30 49 50");
}

TEST(NvtxSelection, ARangeOfAnotherThreadCoversNothing) {
  HandTrace hand;
  const uint32_t other = hand.thread(0, 501);
  hand.call("cudaFree", 0, 5);
  hand.call("cudaFree", 10, 15);
  hand.call("cudaFree", 12, 15, 0, other);
  hand.range("step", 10, 20, RangeKind::Nvtx, other);
  hand.finish();
  EXPECT_EQ(calls(hand, {"step"}), "12");
}

// A start/end range belongs to the thread that opened it, whichever thread closes it. One range is never closed.
TEST(NvtxSelection, AStartEndRangeCoversTheThreadThatStartedIt) {
  HandTrace hand;
  const uint32_t other = hand.thread(0, 501);
  for (const uint32_t thread : {0u, other}) {
    for (const int64_t begin : {0, 10, 20, 40, 80}) hand.call("cudaFree", begin + thread, begin + 5, 0, thread);
  }
  hand.range("load", 10, 30, RangeKind::Nvtx, other);
  hand.trace.ranges.back().style = RangeStyle::StartEnd;
  hand.trace.ranges.back().other_thread = true;
  hand.range("open", 35, 40, RangeKind::Nvtx);
  hand.trace.ranges.back().style = RangeStyle::StartEnd;
  hand.trace.ranges.back().unfinished = true;
  hand.finish();
  EXPECT_EQ(calls(hand, {"load"}), "11 21");
  EXPECT_EQ(calls(hand, {"open"}), "40 80");
}

TEST(NvtxSelection, AnOperationBelongsWithItsLaunchHoweverLateItRuns) {
  HandTrace hand;
  hand.range("step", 0, 10, RangeKind::Nvtx);
  hand.launch(0, 5, 1);
  hand.launch(20, 25, 2);
  hand.kernel(100, 110, 1, 0, "inside");
  hand.kernel(120, 130, 2, 0, "outside");
  hand.kernel(3, 8, 77, 0, "of no known launch");
  hand.finish();
  const NvtxSelection selection = selection_of(hand, {"step"});
  std::string names;
  for (uint32_t row = 0; row < hand.trace.operations.size(); ++row) {
    if (selection.has_operation(row))
      names += hand.trace.text(hand.trace.kernels[hand.trace.operations[row].detail].name);
  }
  EXPECT_EQ(names, "inside");
  EXPECT_EQ(selection.unlinked(), 1u);
  hand.selection.nvtx_words = {"step"};
  hand.selection.find_ranges(hand.trace, hand.views(), false);
  EXPECT_EQ(hand.selection.text(), "NVTX ranges step, left out as operations of no range: 1 whose launch is not known");
}

// 0: operations belong with the graph's launch; with --captured, with the call that captured the node, if that is
// known.
TEST(NvtxSelection, WhatAGraphRunsBelongsWithItsLaunchOrItsCapture) {
  HandTrace hand;
  hand.range("capture", 0, 10, RangeKind::Nvtx);
  hand.range("replay", 20, 30, RangeKind::Nvtx);
  hand.call("cudaLaunchKernel", 0, 5, 0);
  hand.call("cudaGraphLaunch", 20, 25, 9);
  hand.kernel(40, 50, 9, 0, "captured");
  hand.trace.operations.back().graph_node = uint64_t{6} << 32 | 1;
  hand.kernel(60, 70, 9, 0, "not known");
  hand.trace.operations.back().graph_node = uint64_t{7} << 32 | 1;
  hand.finish();
  GraphNode node;
  node.node = uint64_t{6} << 32 | 1, node.time_ns = 5, node.call = 0;
  hand.trace.graph_nodes.push_back(node);
  const auto both = [&](const char* word, bool captured) {
    const NvtxSelection selection = selection_of(hand, {word}, captured);
    return std::to_string(selection.has_operation(0)) + std::to_string(selection.has_operation(1));
  };
  EXPECT_EQ(both("replay", false), "11");
  EXPECT_EQ(both("capture", false), "00");
  EXPECT_EQ(both("replay", true), "01");
  EXPECT_EQ(both("capture", true), "10");
}

TEST(NvtxSelection, ARangeBelongsIfItIsOneOrLiesInsideOne) {
  HandTrace hand;
  hand.range("outer", 0, 100, RangeKind::Nvtx);
  hand.range("step", 10, 50, RangeKind::Nvtx);
  hand.range("inside", 20, 30, RangeKind::Operator);
  hand.range("begins-inside", 45, 60, RangeKind::Nvtx);
  hand.range("behind", 60, 70, RangeKind::Nvtx);
  hand.range("step", 80, 90, RangeKind::Annotation);
  hand.range("python", 81, 89, RangeKind::Python);
  hand.finish();
  EXPECT_EQ(ranges(hand, {"step"}), "step inside step python");
  const NvtxSelection selection = selection_of(hand, {"step"});
  EXPECT_TRUE(selection.has_moment(ThreadId{0}, 10));
  EXPECT_FALSE(selection.has_moment(ThreadId{0}, 50));
  EXPECT_FALSE(selection.has_moment(ThreadId{0}, 9));
}

// Two consecutive ranges are not one range: an event that starts in the first and ends in the second is in neither.
TEST(NvtxSelection, TwoRangesInARowAreNotOne) {
  HandTrace hand;
  hand.range("step", 0, 10, RangeKind::Nvtx);
  hand.range("step", 10, 20, RangeKind::Nvtx);
  hand.range("across", 5, 15, RangeKind::Nvtx);
  hand.finish();
  EXPECT_EQ(ranges(hand, {"step"}), "step step");
  EXPECT_EQ(ranges(hand, {"across"}), "across");
}

TEST(NvtxSelection, NamesArePrefixesOrExpressionsAndDomainsStandBehindAnAt) {
  HandTrace hand;
  int64_t at = 0;
  const auto add = [&](const char* name, const char* domain, RangeKind kind = RangeKind::Nvtx) {
    hand.range(name, at, at + 5, kind);
    if (*domain != '\0') hand.trace.labels.back().domain = hand.trace.strings.intern(domain);
    hand.call("cudaFree", at, at + 1);
    at += 10;
  };
  add("step", "");                           // 0
  add("step 2", "");                         // 10
  add("one step", "");                       // 20
  add("step", "app");                        // 30
  add("a@b", "");                            // 40
  add("step", "", RangeKind::Operator);      // 50: not a range of that name
  add("step 3", "", RangeKind::Annotation);  // 60
  hand.finish();
  EXPECT_EQ(calls(hand, {"step"}), "0 10 30 60");
  EXPECT_EQ(calls(hand, {"^step$"}), "0 30");
  EXPECT_EQ(calls(hand, {"step$"}), "0 20 30");
  EXPECT_EQ(calls(hand, {"step@"}), "0 10 60");
  EXPECT_EQ(calls(hand, {"step@app"}), "30");
  EXPECT_EQ(calls(hand, {"step@*"}), "0 10 30 60");
  EXPECT_EQ(calls(hand, {"a@b@*"}), "40");
  EXPECT_EQ(calls(hand, {"one", "step@app"}), "20 30");
  const auto message = [&](const char* word) -> std::string {
    try {
      selection_of(hand, {"step", word});
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "nothing was wrong";
  };
  EXPECT_EQ(message("never"), "--nvtx: no NVTX range or annotation 'never' in the input");
  EXPECT_EQ(message("step@nowhere"), "--nvtx: no NVTX range or annotation 'step@nowhere' in the input");
  EXPECT_NE(message("(").find("'('"), std::string::npos);
  EXPECT_EQ(message("@app"), "--nvtx: an empty pattern");
}

std::string csv(const Table& table) {
  std::string text;
  Sink sink(&text);
  write_table(table, TableFormat::Csv, TimeUnit::Auto, sink);
  sink.close();
  return text;
}

// Two threads that compute, copy, wait and allocate, with a range around each step; the range "nothing" is empty.
void steps(HandTrace& hand) {
  const uint32_t other = hand.thread(0, 501), second = hand.stream(0, 9);
  hand.range("ProfilerStep#1", 0, 9000, RangeKind::Annotation);
  for (int64_t i = 0; i < 6; ++i) {
    const int64_t t = 1500 * i;
    const uint32_t thread = i % 2 == 0 ? 0 : other, stream = i % 2 == 0 ? 0 : second,
                   id = static_cast<uint32_t>(10 * i + 1);
    hand.range("Torch-Compiled Region: 0/0", t, t + 950, RangeKind::Nvtx, thread);
    hand.range("aten::mm", t + 1, t + 300, RangeKind::Operator, thread);
    for (uint32_t k = 0; k < 4; ++k) {
      hand.launch(t + 5 + 50 * k, t + 45 + 50 * k, id + k, thread);
      hand.kernel(t + 60 + 60 * k, t + 100 + 60 * k, id + k, stream, k % 2 == 0 ? "gemm" : "relu");
    }
    hand.call("cudaMemcpy", t + 450, t + 560, id + 4, thread);
    hand.copy(t + 480, t + 550, id + 4, 1 << 20, 1 | 1 << 8 | 3 << 16, stream);
    hand.call("cudaMemset", t + 580, t + 590, id + 5, thread);
    hand.fill(t + 600, t + 620, id + 5, 64, stream);
    hand.memory(t + 650, 4096, 100 + static_cast<uint64_t>(i), 0, thread);
    hand.memory(t + 660, -4096, 100 + static_cast<uint64_t>(i), 0, thread);
    hand.call("cudaDeviceSynchronize", t + 700, t + 800, 0, thread);
  }
  hand.range("nothing", 9100, 9200, RangeKind::Nvtx);
  hand.finish();
}

// Includes every new row of reports.def.
TEST(NvtxSelection, EveryReportObeysItOrSaysWhyNot) {
  HandTrace hand;
  steps(hand);
  Selection cut;
  cut.nvtx_words = {"nothing"};
  cut.find_ranges(hand.trace, hand.views(), false);
  size_t obey = 0;
  for (const Report& report : kReports) {
    SCOPED_TRACE(report.name);
    EXPECT_NO_THROW(check_selection(report, Selection()));
    if (!report.without_nvtx.empty()) {
      try {
        check_selection(report, cut);
        ADD_FAILURE() << "not refused";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), "--nvtx: " + std::string(report.name) +
                                    " cannot be cut to ranges: " + std::string(report.without_nvtx));
      }
      continue;
    }
    EXPECT_NO_THROW(check_selection(report, cut));
    hand.selection = {};
    const Table whole = hand.report(report.run);
    hand.selection = cut;
    const Table nothing = hand.report(report.run);
    if (whole.rows() == 0) continue;  // the model has no rows for this report
    EXPECT_NE(csv(whole), csv(nothing)) << "the same as without --nvtx";
    ++obey;
  }
  EXPECT_GE(obey, 45u);
}

}  // namespace
}  // namespace prof::analyzer
