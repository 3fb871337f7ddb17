// What changed between runs: matching, the decomposition of a difference, sums that add up, verdicts.
#include "analyzer/analysis/diff/run_diff.h"

#include "analyzer/command/inputs.h"
#include "tests/unit/analyzer/hand_trace.h"
#include "tests/unit/analyzer/shared_traces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <string_view>
#include <utility>

namespace prof::analyzer {
namespace {

RunRow row(std::string name, std::vector<int64_t> durations, std::string path = "step") {
  RunRow made;
  made.name = std::move(name), made.path = std::move(path), made.category = "cublas",
  made.launch_shape = "1x1x1 32x1x1";
  made.durations_ns = std::move(durations);
  return made;
}

RunWork run(std::vector<RunRow> rows, int64_t overlap_ns = 0, int64_t idle_ns = 0) {
  RunWork made;
  made.rows = std::move(rows);
  for (const RunRow& each : made.rows) {
    for (const int64_t ns : each.durations_ns) made.sum_ns += ns;
  }
  made.busy_ns = made.sum_ns - overlap_ns;
  made.wall_ns = made.busy_ns + idle_ns;
  return made;
}

RunDiff compare(RunWork now, RunWork before) {
  std::vector<RunWork> a, b;
  a.push_back(std::move(now)), b.push_back(std::move(before));
  return run_diff(std::move(a), std::move(b));
}

const DiffRow& named(const RunDiff& diff, std::string_view name) {
  for (const DiffRow& each : diff.rows) {
    if (each.name == name) return each;
  }
  ADD_FAILURE() << "no row " << name;
  return diff.rows.front();
}

TEST(RunDiff, SplitsADifferenceIntoLaunchesAndSpeed) {
  // 10 launches of 100 before; 12 of 110 now: 2 more launches at 100, and 12 · 10 from the speed.
  const RunDiff diff =
      compare(run({row("k", std::vector<int64_t>(12, 110))}), run({row("k", std::vector<int64_t>(10, 100))}));
  const DiffRow& k = named(diff, "k");
  EXPECT_DOUBLE_EQ(k.delta_ns, 320);
  EXPECT_DOUBLE_EQ(k.count_effect_ns, 200);
  EXPECT_DOUBLE_EQ(k.speed_effect_ns, 120);
  EXPECT_NEAR(*k.speed_percent(), 10, 1e-9);
  EXPECT_EQ(k.verdict, Verdict::Slower);
}

TEST(RunDiff, RowsAddUpToBusyAndWall) {
  const RunDiff diff = compare(run({row("a", {100, 101, 99}), row("b", {7}), row("c", {50}, "x")}, 20, 300),
                               run({row("a", {90, 91}), row("d", {33}), row("c", {49}, "y")}, 5, 400));
  double delta_ns = 0, parts_ns = 0;
  for (const DiffRow& each : diff.rows) {
    delta_ns += each.delta_ns;
    parts_ns += each.count_effect_ns + each.speed_effect_ns;
  }
  ASSERT_EQ(diff.totals.size(), 5u);
  EXPECT_EQ(diff.totals[0].name, "operations");
  EXPECT_EQ(delta_ns, diff.totals[0].delta_ns());
  EXPECT_EQ(parts_ns, delta_ns);
  EXPECT_EQ(diff.totals[0].delta_ns() + diff.totals[1].delta_ns(), diff.totals[2].delta_ns());  // busy
  EXPECT_EQ(diff.totals[2].delta_ns() + diff.totals[3].delta_ns(), diff.totals[4].delta_ns());  // wall
  EXPECT_EQ(diff.totals[2].delta_ns(), (357 - 20) - (263 - 5));
}

TEST(RunDiff, RatiosOfAllTotalsAreOfNowToBefore) {
  std::vector<RunWork> now, before;
  for (int64_t i = 0; i < 8; ++i) {  // no two runs take exactly as long
    now.push_back(run({row("k", {20'000 + i})}, 0, 10'000 + i % 3));
    before.push_back(run({row("k", {10'000 + i % 5})}, 0, 15'000 + i));
  }
  const RunDiff diff = run_diff(std::move(now), std::move(before));
  ASSERT_TRUE(diff.between_runs);
  ASSERT_EQ(diff.totals.size(), 5u);
  const std::pair<std::string_view, double> expected[] = {{"busy", 2.0}, {"idle", 10.0 / 15}, {"wall", 30.0 / 25}};
  for (size_t i = 0; i < 3; ++i) {
    const DiffTotal& total = diff.totals[2 + i];
    EXPECT_EQ(total.name, expected[i].first);
    ASSERT_TRUE(total.ratio) << total.name;
    EXPECT_NEAR(total.ratio->ratio, expected[i].second, 0.001) << total.name;
    EXPECT_NEAR(total.ratio->low, expected[i].second, 0.01) << total.name;
    EXPECT_NEAR(total.ratio->high, expected[i].second, 0.01) << total.name;
  }
}

TEST(RunDiff, MatchesByPathNameGridAndShapeAndNotByCutNames) {
  const std::string long_name(300, 'k');
  const RunDiff diff = compare(run({row(long_name + "1", {10}), row(long_name + "2", {20})}),
                               run({row(long_name + "2", {20}), row(long_name + "1", {10})}));
  ASSERT_EQ(diff.rows.size(), 2u);
  for (const DiffRow& each : diff.rows) EXPECT_EQ(each.delta_ns, 0);
}

TEST(RunDiff, AReplacedKernelIsOneRowWhereItIsTheOnlyOneOfItsClassThere) {
  const RunDiff diff = compare(run({row("gemm_128x128", std::vector<int64_t>(8, 80), "step/aten::mm")}),
                               run({row("gemm_64x64", std::vector<int64_t>(8, 100), "step/aten::mm")}));
  ASSERT_EQ(diff.rows.size(), 1u);
  EXPECT_EQ(diff.rows[0].name, "gemm_64x64 -> gemm_128x128");
  EXPECT_EQ(diff.rows[0].verdict, Verdict::Faster);
  // Two candidates: it is unknown which one was replaced.
  const RunDiff two = compare(run({row("a", {1}, "p"), row("b", {2}, "p")}), run({row("c", {3}, "p")}));
  EXPECT_EQ(two.rows.size(), 3u);
}

TEST(RunDiff, AddedAndVanishedKernels) {
  const RunDiff diff =
      compare(run({row("new", {100}, "p"), row("same", {1000})}), run({row("old", {70}, "q"), row("same", {1000})}));
  EXPECT_EQ(named(diff, "new").verdict, Verdict::Added);
  EXPECT_EQ(named(diff, "old").verdict, Verdict::Vanished);
  EXPECT_EQ(named(diff, "old").delta_ns, -70);
  EXPECT_EQ(named(diff, "same").verdict, Verdict::Same);
  EXPECT_FALSE(named(diff, "new").speed_percent());
}

TEST(RunDiff, SortsByTheSizeOfTheDifference) {
  const RunDiff diff = compare(run({row("a", {100}), row("b", {10}), row("c", {500})}),
                               run({row("a", {110}), row("b", {40}), row("c", {500})}));
  EXPECT_EQ(diff.rows[0].name, "b");
  EXPECT_EQ(diff.rows[1].name, "a");
  EXPECT_EQ(diff.rows[2].name, "c");
}

TEST(RunDiff, FewLaunchesAreNotTestedAndSmallDifferencesDoNotMatter) {
  EXPECT_EQ(named(compare(run({row("k", {200, 200})}), run({row("k", {100, 100})})), "k").verdict, Verdict::Untested);
  // 1 % slower, which is significant, but below 2 % of the row.
  EXPECT_EQ(
      named(compare(run({row("k", std::vector<int64_t>(50, 1010))}), run({row("k", std::vector<int64_t>(50, 1000))})),
            "k")
          .verdict,
      Verdict::Same);
  // Twice as slow, but below 0.1 % of the total.
  EXPECT_EQ(
      named(compare(run({row("k", std::vector<int64_t>(10, 20)), row("all", std::vector<int64_t>(10, 1'000'000))}),
                    run({row("k", std::vector<int64_t>(10, 10)), row("all", std::vector<int64_t>(10, 1'000'000))})),
            "k")
          .verdict,
      Verdict::Same);
}

TEST(RunDiff, MoreLaunchesOfTheSameSpeed) {
  const RunDiff diff =
      compare(run({row("k", std::vector<int64_t>(20, 100))}), run({row("k", std::vector<int64_t>(10, 100))}));
  EXPECT_EQ(named(diff, "k").verdict, Verdict::MoreWork);
  EXPECT_EQ(named(diff, "k").speed_effect_ns, 0);
}

TEST(RunDiff, NothingAgainstNothing) {
  const RunDiff diff = compare(run({}), run({}));
  EXPECT_TRUE(diff.rows.empty());
  EXPECT_EQ(diff.totals[2].delta_ns(), 0);
}

// Kernels of 5 to 500 us whose durations vary by 2 %, in runs that differ by 0.3 %.
RunWork simulated(uint32_t seed, double slowdown) {
  std::mt19937 random(seed);
  std::normal_distribution<double> of_launch(0, 0.02), of_run(0, 0.003);
  std::vector<RunRow> rows;
  const double day = std::exp(of_run(random));
  for (int k = 0; k < 40; ++k) {
    std::vector<int64_t> durations;
    const double mean = 5000 * std::pow(100.0, k / 39.0) * day * (k == 30 ? slowdown : 1);
    for (int i = 0; i < 60; ++i) durations.push_back(std::llround(mean * std::exp(of_launch(random))));
    rows.push_back(row("kernel " + std::to_string(k), std::move(durations)));
  }
  return run(std::move(rows));
}

RunDiff simulated_diff(uint32_t seed, double slowdown, uint32_t runs) {
  std::vector<RunWork> now, before;
  for (uint32_t r = 0; r < runs; ++r) {
    now.push_back(simulated(seed * 100 + r, slowdown));
    before.push_back(simulated(seed * 100 + 50 + r, 1));
  }
  return run_diff(std::move(now), std::move(before));
}

TEST(RunDiff, FindsAKernelThatIsFivePercentSlowerAndNothingElseInTenOfTen) {
  for (const uint32_t runs : {1u, 4u, 5u}) {
    for (uint32_t seed = 1; seed <= 10; ++seed) {
      const RunDiff diff = simulated_diff(seed, 1.05, runs);
      EXPECT_EQ(diff.between_runs, runs >= 3);
      for (const DiffRow& each : diff.rows)
        EXPECT_EQ(each.verdict, each.name == "kernel 30" ? Verdict::Slower : Verdict::Same)
            << each.name << " seed " << seed << " runs " << runs;
    }
  }
}

TEST(RunDiff, HasNoFalseAlarmInTenUnchangedPairs) {
  for (const uint32_t runs : {1u, 3u}) {
    for (uint32_t seed = 11; seed <= 20; ++seed) {
      for (const DiffRow& each : simulated_diff(seed, 1, runs).rows)
        EXPECT_EQ(each.verdict, Verdict::Same) << each.name << " seed " << seed << " runs " << runs;
    }
  }
}

TEST(RunRows, KeepPathsWithoutNumbersAndSumsThatAreTheTrace) {
  prof::tests::HandTrace hand;
  hand.range("ProfilerStep#1", 0, 100, RangeKind::Annotation);
  hand.range("aten::mm", 1, 50);
  hand.range("ProfilerStep#2", 100, 200, RangeKind::Annotation);
  hand.range("aten::mm", 101, 150);
  hand.launch(2, 3, 1);
  hand.kernel(10, 20, 1, 0, "gemm");
  hand.launch(102, 103, 2);
  hand.kernel(110, 125, 2, 0, "gemm");
  hand.copy(120, 130, 3, 64, 1 | 1 << 8 | 3 << 16);
  const Trace& trace = hand.finish();
  const RunWork work = run_rows({trace, hand.views(), hand.selection, hand.options}, "f", false);
  ASSERT_EQ(work.rows.size(), 2u);
  EXPECT_EQ(work.rows[0].path, "ProfilerStep*/aten::mm");
  EXPECT_EQ(work.rows[0].durations_ns, (std::vector<int64_t>{10, 15}));
  EXPECT_EQ(work.rows[1].name, "[CUDA memcpy HtoD]");
  EXPECT_EQ(work.sum_ns, 35);
  EXPECT_EQ(work.busy_ns, 10 + 20);
  EXPECT_EQ(work.wall_ns, 200);
}

RunWork recorded(const std::string& name) {
  const std::unique_ptr<Trace> trace = read_inputs({(prof::tests::shared_data() / "h200" / name).string()});
  const Views views(*trace);
  const Selection everything;
  const ReportOptions options;
  return run_rows({*trace, views, everything, options}, name, false);
}

// Two recordings of each of two trainings on an H200. Nothing changed between them, and a kernel that is made 10 %
// longer in one of them is the only one reported.
TEST(RunDiff, TellsTwoRecordingsOfOneProgramFromAChange) {
  PROF_NEEDS_SHARED_DATA();
  if (!std::filesystem::exists(prof::tests::shared_data() / "h200")) GTEST_SKIP() << "no recordings of an H200";
  for (const std::string program : {"resnet18", "gpt2"}) {
    const RunDiff unchanged = compare(recorded(program + ".plain.trace.json.gz"), recorded(program + ".trace.json.gz"));
    EXPECT_GT(unchanged.rows.size(), 100u);
    for (const DiffRow& each : unchanged.rows)
      EXPECT_TRUE(each.verdict == Verdict::Same || each.verdict == Verdict::Noise || each.verdict == Verdict::Untested)
          << program << " " << each.name << " is " << verdict_name(each.verdict);

    if (program != "gpt2") continue;  // the other has no large kernel with enough launches
    RunWork slow = recorded(program + ".plain.trace.json.gz");
    // Enough launches, all of one length.
    const auto total = [](const RunRow& r) {
      const auto [least, most] = std::minmax_element(r.durations_ns.begin(), r.durations_ns.end());
      if (r.durations_ns.size() < 16 || *most > *least + *least / 4) return int64_t{0};
      return std::accumulate(r.durations_ns.begin(), r.durations_ns.end(), int64_t{0});
    };
    const auto longest = std::max_element(slow.rows.begin(), slow.rows.end(),
                                          [&](const RunRow& a, const RunRow& b) { return total(a) < total(b); });
    for (int64_t& ns : longest->durations_ns) ns += ns / 10;
    const std::string path = longest->path, name = longest->name;
    const RunDiff changed = compare(std::move(slow), recorded(program + ".trace.json.gz"));
    size_t slower = 0;
    for (const DiffRow& each : changed.rows) {
      if (each.verdict == Verdict::Same || each.verdict == Verdict::Noise || each.verdict == Verdict::Untested)
        continue;
      ++slower;
      EXPECT_EQ(each.verdict, Verdict::Slower);
      EXPECT_EQ(each.name, name);
      EXPECT_EQ(each.path, path);
    }
    EXPECT_EQ(slower, 1u) << program << ": " << name;
  }
}

}  // namespace
}  // namespace prof::analyzer
