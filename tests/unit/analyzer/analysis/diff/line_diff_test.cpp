// Source lines of two sides of runs: which take longer in a launch, and which differences are chance?
#include "analyzer/analysis/diff/line_diff.h"
#include "analyzer/analysis/diff/run_diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace prof::analyzer {
namespace {

constexpr double kLaunches = 100, kBusy = 1e6;  // ns

// A line of a kernel whose time in one launch varies by a tenth around `mean_ns`.
RunLine line(const std::string& place, double mean_ns, std::mt19937_64& random, size_t blocks = 16) {
  std::normal_distribution<double> draw(mean_ns, mean_ns / 10);
  RunLine made{"gemm", "gemm", place, 500, static_cast<uint64_t>(kLaunches), kLaunches * mean_ns};
  for (size_t i = 0; i < blocks; ++i) made.launch_ns.push_back(std::max(0.0, draw(random)));
  return made;
}

std::vector<std::vector<RunLine>> one_run(std::vector<RunLine> lines) { return {std::move(lines)}; }

const LineDiffRow& row_of(const std::vector<LineDiffRow>& rows, const std::string& place) {
  return *std::find_if(rows.begin(), rows.end(), [&](const LineDiffRow& row) { return row.place == place; });
}

TEST(LineDiff, FindsTheLineThatBecameSlower) {
  std::mt19937_64 random(1);
  const std::vector<std::vector<RunLine>> before = {{line("a.cu:1", 100, random), line("a.cu:2", 300, random)}};
  const std::vector<std::vector<RunLine>> now = {{line("a.cu:1", 150, random), line("a.cu:2", 300, random)}};
  const std::vector<LineDiffRow> rows = line_diff(now, before, false);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].place, "a.cu:1");  // the largest effect first
  EXPECT_EQ(rows[0].effect_ns(), 50 * kLaunches);
  EXPECT_EQ(line_verdict(rows[0], kBusy), Verdict::Slower);
  EXPECT_EQ(line_verdict(rows[1], kBusy), Verdict::Same);
  const std::vector<LineDiffRow> back = line_diff(before, now, false);
  EXPECT_EQ(line_verdict(row_of(back, "a.cu:1"), kBusy), Verdict::Faster);
}

TEST(LineDiff, CallsChanceNoise) {
  std::mt19937_64 random(2);
  const RunLine before = line("a.cu:1", 100, random);
  RunLine now = before;
  now.total_ns *= 1.05;  // large enough to matter, and not in the blocks
  const std::vector<LineDiffRow> rows = line_diff(one_run({now}), one_run({before}), false);
  EXPECT_EQ(line_verdict(rows.at(0), kBusy / 10), Verdict::Noise);
}

// Of 400 lines that did not change, the test at 5 % false discoveries calls hardly one slower or faster.
TEST(LineDiff, DoesNotFindChangesInEqualRuns) {
  std::mt19937_64 random(3);
  std::vector<RunLine> before, now;
  for (int i = 0; i < 400; ++i) {
    before.push_back(line("a.cu:" + std::to_string(i), 100, random));
    now.push_back(line("a.cu:" + std::to_string(i), 100, random));
  }
  int found = 0;
  for (const LineDiffRow& row : line_diff(one_run(now), one_run(before), false))
    found += row.false_discovery.value() <= 0.05 ? 1 : 0;
  EXPECT_LE(found, 1);
}

TEST(LineDiff, ALineWithoutSamplesOnOneSideTookNoTimeThere) {
  std::mt19937_64 random(4);
  const std::vector<std::vector<RunLine>> before = {{line("a.cu:1", 100, random)}};
  const std::vector<std::vector<RunLine>> now = {{line("a.cu:1", 100, random), line("a.cu:7", 80, random)}};
  const LineDiffRow added = row_of(line_diff(now, before, false), "a.cu:7");
  EXPECT_EQ(added.before.mean_ns, 0);
  EXPECT_EQ(added.before.samples, 0u);
  EXPECT_EQ(line_verdict(added, kBusy), Verdict::Slower);
}

TEST(LineDiff, AKernelOfOneSideOnlyHasNoChange) {
  std::mt19937_64 random(5);
  RunLine other = line("b.cu:1", 100, random);
  other.kernel = "other";
  const std::vector<LineDiffRow> rows = line_diff(one_run({other}), one_run({line("a.cu:1", 100, random)}), false);
  ASSERT_EQ(rows.size(), 2u);
  for (const LineDiffRow& row : rows) EXPECT_EQ(line_verdict(row, kBusy), Verdict::Same);
}

TEST(LineDiff, TooFewReadingsAreUntestedAndThreeRunsAreComparedAsRuns) {
  std::mt19937_64 random(6);
  const RunLine short_before = line("a.cu:1", 100, random, 3), short_now = line("a.cu:1", 150, random, 3);
  EXPECT_EQ(line_verdict(line_diff(one_run({short_now}), one_run({short_before}), false).at(0), kBusy),
            Verdict::Untested);
  std::vector<std::vector<RunLine>> before, now;
  for (const double shift : {-1.0, 0.0, 1.0}) {
    before.push_back({line("a.cu:1", 100 + shift, random, 3)});
    now.push_back({line("a.cu:1", 150 + shift, random, 3)});
  }
  const std::vector<LineDiffRow> rows = line_diff(now, before, true);
  EXPECT_EQ(rows.at(0).now.repetitions.size(), 3u);
  EXPECT_EQ(line_verdict(rows.at(0), kBusy), Verdict::Slower);
}

}  // namespace
}  // namespace prof::analyzer
