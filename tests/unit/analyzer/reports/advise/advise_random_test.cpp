// For any run: every bound of advise equals the replay of its rule's scenario, none exceeds the wall time, and the
// largest comes first.
#include "tests/unit/analyzer/reports/advise/advised_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::AdvisedRun;

// Random events: overlapping, nested, reversed, unlinked, with shared ids, and several processes that communicate.
enum class Drawn { TimesFirst, KindFirst };

void add_junk(AdvisedRun& run, std::mt19937& random, uint32_t events, Drawn drawn = Drawn::TimesFirst) {
  const auto number = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
  run.process(200);
  run.thread(1, 600), run.thread(0, 501);
  run.device(0, 1), run.device(1, 0);
  run.stream(1, 8), run.stream(2, 9);
  for (Process& process : run.trace.processes) process.host = "node";
  static constexpr const char* kApis[] = {
      "cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemcpy",     "cudaStreamSynchronize", "cudaDeviceSynchronize",
      "cudaMalloc",       "cudaMemset",      "cudaEventQuery", "cudaFuncGetAttributes"};
  static constexpr const char* kRandomKernels[] = {"a", "b", "ncclDevKernel_AllGather_RING_LL"};
  run.call("cudaMalloc", 0, 1);
  for (uint32_t i = 0; i < events; ++i) {
    // One draw a statement: the order in which arguments are evaluated differs between compilers.
    const uint32_t kind_first = drawn == Drawn::KindFirst ? number(5) : 0;
    const int64_t begin = number(2000);
    const int64_t duration = number(90);
    const int64_t end = begin + duration - (number(20) == 0 ? 30 : 0);
    const uint32_t what = drawn == Drawn::KindFirst ? kind_first : number(5);
    const uint32_t kernel = what == 2 ? number(3) : 0;
    const uint32_t place = number(3);  // thread or stream
    const uint32_t one_of_two = what > 2 ? number(2) : 0;
    const uint32_t id = what != 3 ? number(events) : 0;
    switch (what) {
      case 0:
      case 1: run.call(kApis[number(9)], begin, end, id, place); break;
      case 2: run.kernel(begin, end, id, place, kRandomKernels[kernel]); break;
      case 3: run.range(one_of_two == 0 ? "load" : "step", begin, end, RangeKind::Operator, place); break;
      default: run.copy(begin, end, id, 64, one_of_two == 0 ? 1 | 1 << 8 : 2 | 3 << 8, place); break;
    }
  }
}

// `see`: the name of a report, and its window if that is not the default.
Table table_of(AdvisedRun& run, std::string_view see) {
  constexpr std::string_view kWindow = " --window ";
  const size_t at = see.find(kWindow);
  const std::string_view name = see.substr(0, at);
  ReportOptions options = run.options;
  if (at != std::string_view::npos) options.window = see.substr(at + kWindow.size());
  const auto* const report =
      std::find_if(std::begin(kReports), std::end(kReports), [&](const Report& each) { return each.name == name; });
  if (report == std::end(kReports)) throw std::runtime_error("no report " + std::string(name));
  Table table = report->run({run.trace, run.views(), run.selection, options});
  table.store();
  return table;
}

size_t rows_of(AdvisedRun& run, std::string_view name) { return table_of(run, name).rows(); }

// Whether a report that lists events has one that starts at this time. Other reports need any row.
bool lists(const Table& table, int64_t start_ns) {
  for (size_t row = 0; row < table.rows(); ++row) {
    if (tests::cell_text(table, row, "start") == std::to_string(start_ns)) return true;
  }
  return false;
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
      EXPECT_GT(rows_of(run, run.cell(row, "see")), 0u) << run.cell(row, "see");
    }
  }
  for (const char* rule :
       {"synchronization", "blocking-copy", "pageable-copy", "small-copies", "exposed-copies", "allocation",
        "communication", "dominating-kernel", "host-work", "host-work-in", "idle-device", "low-use", "other-call",
        "device-imbalance", "late-rank", "moved-data", "repeated-copies", "round-trips"})
    EXPECT_GT(seen[rule], 0) << rule << " was never asked about";
}

// What a user may select: nothing, places, a part of the time, ranges, and several of them.
void select_part(AdvisedRun& run, uint32_t which) {
  Selection& selection = run.selection;
  switch (which) {
    case 0: break;
    case 1: selection.devices = {0}; break;
    case 2: selection.devices = {1}; break;
    case 3: selection.streams = {8}; break;
    case 4: selection.threads = {500}; break;
    case 5: selection.threads = {501, 600}; break;
    case 6: selection.processes = {true, false}; break;
    case 7: selection.processes = {false, true}; break;
    case 8: selection.from_ns = 700, selection.to_ns = 1300; break;
    case 9: selection.nvtx_words = {"part"}; break;
    case 10: selection.devices = {0}, selection.threads = {500}; break;
    default: selection.streams = {7}, selection.processes = {true, false}, selection.from_ns = 400; break;
  }
  if (!selection.nvtx_words.empty()) selection.find_ranges(run.trace, run.views(), false);
}

TEST(Advise, EveryFindingNamesAReportThatListsItsRowsWhateverIsSelected) {
  constexpr uint32_t kSelections = 12;
  for (uint32_t seed = 0; seed < 360; ++seed) {
    std::mt19937 random(seed * 7919 + 1);
    AdvisedRun run;
    add_junk(run, random, 20 + seed * 7 % 130, seed % 2 == 0 ? Drawn::TimesFirst : Drawn::KindFirst);
    run.range("part", 300, 1200, RangeKind::Nvtx, 0), run.range("part", 800, 1700, RangeKind::Nvtx, 1);
    run.finish();
    select_part(run, seed % kSelections);
    const AnalysisInput input{run.trace, run.views(), run.selection, run.options};
    const std::vector<Window> windows = graph_windows(input);
    if (windows.empty()) continue;
    const DependencyGraph graph = make_graph(input, windows[0]);
    const NodeSelection selected(input);
    const std::vector<NamedNodes> named = named_nodes(input, graph, selected);
    AdviceShared shared(input, windows);
    std::map<std::string, Table> tables;
    for (const AdviceRule& rule : advice_rules()) {
      std::vector<Advice> found;
      rule.find({input, shared, windows[0], graph, selected, named}, found);
      for (const Advice& advice : found) {
        if (!advice.note.empty()) continue;
        const Outcome outcome = Replay(graph, selected.filter()).wall_without(advice.scenario);
        if (graph.wall_ns() <= std::max(outcome.wall_ns, advice.floor_ns)) continue;  // not reported
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", selection " << seed % kSelections << ", " << rule.name
                                        << " in " << advice.see);
        auto table = tables.find(advice.see);
        if (table == tables.end()) table = tables.emplace(advice.see, table_of(run, advice.see)).first;
        EXPECT_GT(table->second.rows(), 0u);
        if (advice.see == "gpu-trace" && advice.operation != kNone) {
          EXPECT_TRUE(lists(table->second, run.trace.operations[advice.operation].start_ns));
        }
        if (advice.see == "api-trace" && advice.call != kNone) {
          EXPECT_TRUE(lists(table->second, run.trace.host[advice.call].begin_ns));
        }
      }
    }
  }
}

}  // namespace
}  // namespace prof::analyzer
