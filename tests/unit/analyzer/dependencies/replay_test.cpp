// Replays of any run: the unchanged graph equals the measured run, every change is bounded, and batched, vectorised and
// single replays agree.
#include "analyzer/dependencies/replay.h"
#include "tests/unit/analyzer/analysis/scaling.h"
#include "tests/unit/analyzer/reports/sample_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::kKernels;
using tests::kLaunches;
using tests::kSyncs;
using tests::SampleRun;

// Random events: overlapping, nested, reversed, unlinked, with shared ids, and waits for events that do not exist.
void add_junk(SampleRun& run, std::mt19937& random, uint32_t events) {
  const auto number = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
  for (int i = 0; i < 2; ++i)
    run.thread(0, 501 + static_cast<uint32_t>(i)), run.stream(0, 8 + static_cast<uint32_t>(i));
  static constexpr const char* kApis[] = {"cudaLaunchKernel",      "cudaMemcpyAsync",     "cudaMemcpy",
                                          "cudaStreamSynchronize", "cudaStreamWaitEvent", "cudaEventRecord",
                                          "cudaDeviceSynchronize", "cudaMalloc",          "cudaEventSynchronize"};
  run.calls_nest = false;
  run.trace.processes[0].format = number(2) == 0 ? "prof log" : "Kineto";
  run.call("cudaMalloc", 0, 1);
  for (uint32_t i = 0; i < events; ++i) {
    const int64_t begin = number(1000), end = begin + number(60) - (number(20) == 0 ? 30 : 0);
    switch (number(4)) {
      case 0:
      case 1: run.call(kApis[number(9)], begin, end, number(events), number(3), number(4)); break;
      case 2: run.kernel(begin, end, number(events), number(3), number(2) == 0 ? "a" : "b"); break;
      default: run.copy(begin, end, number(events), 64, number(2) == 0 ? 1 | 1 << 8 : 2 | 3 << 8, number(3)); break;
    }
    if (number(8) == 0) {
      run.sync(static_cast<SyncKind>(number(5)), begin, end, number(events), number(3), number(3));
      run.trace.syncs.back().record_correlation = number(events);
    }
  }
}

TEST(DependencyGraph, AnyRunReplaysExactlyAndEveryChangeIsBounded) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    SampleRun run;
    add_junk(run, random, 5 + seed % 120);
    if (seed % 3 == 0) {
      run.graph(100, 700);
    } else {
      run.graph();
    }
    if (::testing::Test::HasFatalFailure()) return;
    const Scenario kernels{{kKernels, kPartOwn, 0, 0, {}, {}}}, launches{{kLaunches, kPartOwn, 0, 0, {}, {}}};
    const Scenario syncs{{kSyncs, kPartOwn | kPartWait, 0, 0, {}, {}}};
    Scenario both = kernels;
    both.push_back(launches[0]);
    Scenario all = both;
    all.push_back(syncs[0]);
    const std::vector<Outcome> outcomes = Replay(*run.made).walls_without({kernels, launches, syncs, both, all, {}});
    for (const Outcome& outcome : outcomes) {
      EXPECT_LE(outcome.wall_ns, outcome.known_ns) << "an assumption makes no bound smaller";
      EXPECT_LE(outcome.known_ns, run.made->wall_ns());
      EXPECT_LE(run.made->wall_ns() - outcome.wall_ns, outcome.own_ns) << "no more than the time that was taken out";
    }
    EXPECT_LE(outcomes[3].wall_ns, std::min(outcomes[0].wall_ns, outcomes[1].wall_ns)) << "more taken out, no longer";
    EXPECT_LE(outcomes[4].wall_ns, std::min(outcomes[3].wall_ns, outcomes[2].wall_ns));
    EXPECT_EQ(outcomes[5].wall_ns, run.made->wall_ns());
    // An item without waits saves no more than its time on the longest path.
    int64_t on_path = 0;
    for (const PathStep& step : Replay(*run.made).critical_path()) {
      if (run.made->nodes()[step.node].kind() == NodeKind::Kernel)
        on_path += run.made->time(run.made->nodes()[step.node].own);
    }
    EXPECT_LE(run.made->wall_ns() - outcomes[0].known_ns, on_path);
  }
}

TEST(DependencyGraph, BatchesGiveWhatSingleReplaysGive) {
  std::mt19937 random(7);
  SampleRun run;
  add_junk(run, random, 400);
  run.graph();
  std::vector<Scenario> scenarios;
  for (uint32_t kind = 0; kind < kNodeKinds; ++kind) {
    for (const uint32_t part : {kPartOwn, kPartBefore, kPartOther, kPartWait})
      scenarios.push_back({{1u << kind, part, 0, 0, {}, {}}});
  }
  const std::vector<Outcome> together = Replay(*run.made).walls_without(scenarios);
  for (size_t i = 0; i < scenarios.size(); ++i) {
    const Outcome alone = Replay(*run.made).wall_without(scenarios[i]);
    EXPECT_EQ(together[i].wall_ns, alone.wall_ns) << i;
    EXPECT_EQ(together[i].known_ns, alone.known_ns) << i;
    EXPECT_EQ(together[i].own_ns, alone.own_ns) << i;
    EXPECT_EQ(together[i].count, alone.count) << i;
  }
}

TEST(DependencyGraph, VectorsOfEveryWidthGiveTheSameAnswers) {
  std::mt19937 random(8);
  SampleRun run;
  add_junk(run, random, 400);
  run.graph();
  const auto third = [](uint32_t row) { return row % 3 == 0; };
  const auto half = [](uint32_t, int64_t time_ns) { return time_ns / 2; };
  std::vector<Scenario> scenarios;
  for (const uint32_t part : {kPartOwn, kPartBefore, kPartOther, kPartWait}) {
    scenarios.push_back({{kCallNodes | kOperationNodes, part, 0, 0, {}, {}}});
    scenarios.push_back({{kCallNodes | kOperationNodes, part, 0, 0, {}, third}});
  }
  scenarios.push_back({{kOperationNodes, kPartOwn, 0, 0, {}, third, half}});
  const std::vector<Outcome> expected = Replay(*run.made, {}, Vectors::Baseline).walls_without(scenarios);
  EXPECT_GT(expected.back().own_ns, 0);
  for (const Vectors vectors : {Vectors::Avx2, Vectors::Avx512}) {
    if (vectors > widest_vectors()) continue;
    const std::vector<Outcome> outcomes = Replay(*run.made, {}, vectors).walls_without(scenarios);
    for (size_t i = 0; i < scenarios.size(); ++i) {
      EXPECT_EQ(outcomes[i].wall_ns, expected[i].wall_ns) << i;
      EXPECT_EQ(outcomes[i].known_ns, expected[i].known_ns) << i;
      EXPECT_EQ(outcomes[i].own_ns, expected[i].own_ns) << i;
      EXPECT_EQ(outcomes[i].count, expected[i].count) << i;
    }
  }
}

int64_t cpu_ns_for(uint32_t launches) {
  SampleRun run;
  for (uint32_t i = 0; i < 3; ++i) run.stream(0, 8 + i);
  for (uint32_t i = 0; i < launches; ++i) {
    const int64_t t = 100 * static_cast<int64_t>(i);
    run.launched(t, t + 20, t + 30, t + 90, i % 4);
    if (i % 16 == 0) run.awaited("cudaDeviceSynchronize", t + 21, t + 95);
  }
  run.finish();
  int64_t best = INT64_MAX;
  for (int repeat = 0; repeat < 3; ++repeat) {  // the minimum of three, because other programs run too
    const int64_t before = tests::process_cpu_ns();
    const Dependencies waits(run.trace);
    const DependencyGraph graph(run.trace, waits, 0, INT64_MAX);
    EXPECT_EQ(Replay(graph).wall_ns(), graph.wall_ns());
    best = std::min(best, tests::process_cpu_ns() - before);
  }
  return best;
}

TEST(DependencyGraph, FourTimesTheRunTakesAboutFourTimesTheTime) {
  const int64_t quarter = cpu_ns_for(50'000), whole = cpu_ns_for(200'000);
  EXPECT_LT(whole, 10 * quarter + 50'000'000);
}

}  // namespace
}  // namespace prof::analyzer
