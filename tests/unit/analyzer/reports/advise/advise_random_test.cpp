// For any run: every bound of advise equals the replay of its rule's scenario, none exceeds the wall time, and the
// largest comes first.
#include "tests/unit/analyzer/reports/advise/advised_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::AdvisedRun;

// Random events: overlapping, nested, reversed, unlinked, with shared ids, and several processes that communicate.
void add_junk(AdvisedRun& run, std::mt19937& random, uint32_t events) {
  const auto number = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
  run.process(200);
  run.thread(1, 600), run.thread(0, 501);
  run.device(0, 1), run.device(1, 0);
  run.stream(1, 8), run.stream(2, 9);
  static constexpr const char* kApis[] = {
      "cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemcpy",     "cudaStreamSynchronize", "cudaDeviceSynchronize",
      "cudaMalloc",       "cudaMemset",      "cudaEventQuery", "cudaFuncGetAttributes"};
  static constexpr const char* kKernels[] = {"a", "b", "ncclDevKernel_AllGather_RING_LL"};
  run.call("cudaMalloc", 0, 1);
  for (uint32_t i = 0; i < events; ++i) {
    // One draw a statement: the order in which arguments are evaluated differs between compilers.
    const int64_t begin = number(2000);
    const int64_t duration = number(90);
    const int64_t end = begin + duration - (number(20) == 0 ? 30 : 0);
    const uint32_t what = number(5);
    const uint32_t kernel = what == 2 ? number(3) : 0;
    const uint32_t place = number(3);  // thread or stream
    const uint32_t one_of_two = what > 2 ? number(2) : 0;
    const uint32_t id = what != 3 ? number(events) : 0;
    switch (what) {
      case 0:
      case 1: run.call(kApis[number(9)], begin, end, id, place); break;
      case 2: run.kernel(begin, end, id, place, kKernels[kernel]); break;
      case 3: run.range(one_of_two == 0 ? "load" : "step", begin, end, RangeKind::Operator, place); break;
      default: run.copy(begin, end, id, 64, one_of_two == 0 ? 1 | 1 << 8 : 2 | 3 << 8, place); break;
    }
  }
}

// The report that a finding names has rows.
void expect_rows(AdvisedRun& run, std::string_view name) {
  const auto* const report =
      std::find_if(std::begin(kReports), std::end(kReports), [&](const Report& each) { return each.name == name; });
  ASSERT_NE(report, std::end(kReports)) << name;
  const Table table = report->run({run.trace, run.views(), run.selection, run.options});
  EXPECT_GT(table.rows(), 0u) << name;
}

TEST(Advise, EveryBoundIsAReplaysAndTheyAreSortedAndWithinTheWall) {
  std::map<std::string, int> seen;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    AdvisedRun run;
    add_junk(run, random, 20 + seed % 130);
    if (seed % 4 == 1) run.selection.devices = {0};
    if (seed % 4 == 2) run.selection.threads = {500, 600};
    const Table& table = run.advise();
    const AnalysisInput input{run.trace, run.views(), run.selection, run.options};
    const std::vector<Window> windows = graph_windows(input);
    if (windows.empty()) continue;
    const DependencyGraph graph = make_graph(input, windows[0]);
    const NodeSelection selected(input);
    const std::vector<NamedNodes> named = named_nodes(input, graph, selected);
    AdviceShared shared(input, windows);
    std::multimap<std::string, int64_t> replayed;                // one at a time
    std::vector<std::pair<int64_t, std::string>> asked_in_turn;  // found by a single thread
    for (const AdviceRule& rule : advice_rules()) {
      std::vector<Advice> found;
      rule.find({input, shared, windows[0], graph, selected, named}, found);
      for (const Advice& advice : found) {
        if (!advice.note.empty()) continue;
        const Outcome outcome = Replay(graph, selected.filter()).wall_without(advice.scenario);
        const int64_t saved = graph.wall_ns() - std::max(outcome.wall_ns, advice.floor_ns);
        replayed.emplace(rule.name, saved);
        if (saved > 0 && 200 * saved >= graph.wall_ns())
          asked_in_turn.emplace_back(saved, std::string(rule.name) + ": " + advice.finding + "; " + advice.evidence);
        EXPECT_FALSE(advice.see.empty()) << rule.name;
        EXPECT_FALSE(advice.action.empty()) << rule.name;
      }
    }
    std::stable_sort(asked_in_turn.begin(), asked_in_turn.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    ASSERT_EQ(table.rows(), asked_in_turn.size());
    for (size_t row = 0; row < table.rows(); ++row)
      EXPECT_EQ(run.cell(row, "rule") + ": " + run.cell(row, "finding") + "; " + run.cell(row, "evidence"),
                asked_in_turn[row].second);
    int64_t before = graph.wall_ns();
    for (size_t row = 0; row < table.rows(); ++row) {
      const std::string rule = run.cell(row, "rule");
      ++seen[rule];
      const int64_t saved = std::stoll(run.cell(row, "saved"));
      EXPECT_GT(saved, 0) << rule;
      EXPECT_LE(saved, before) << rule << ": the largest first, none above the wall";
      before = saved;
      const auto [first, last] = replayed.equal_range(rule);
      EXPECT_TRUE(std::any_of(first, last, [&](const auto& each) { return each.second == saved; }))
          << rule << " says " << saved << ", no replay does";
      const std::string assumed = run.cell(row, "assumed");
      EXPECT_GE(std::stoll(assumed), 0) << rule;
      EXPECT_LE(std::stoll(assumed), saved) << rule;
      // A device that works from its first to its last operation has no row in "idle", whose window this is.
      if (rule != "low-use") expect_rows(run, run.cell(row, "see"));
    }
  }
  for (const char* rule :
       {"synchronization", "blocking-copy", "pageable-copy", "small-copies", "exposed-copies", "allocation",
        "communication", "dominating-kernel", "host-work", "host-work-in", "idle-device", "low-use", "other-call",
        "device-imbalance", "late-rank", "moved-data", "repeated-copies", "round-trips"})
    EXPECT_GT(seen[rule], 0) << rule << " was never asked about";
}

}  // namespace
}  // namespace prof::analyzer
