// what-if: how much wall time would be saved at most if an item took no time? A row is a replay of the window's
// dependency graph (dependencies/replay.h) with the times of that item set to 0. Rows do not add up.
#include "analyzer/analysis/critical/host_idle.h"
#include "analyzer/base/statistics.h"
#include "analyzer/reports/reports.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr size_t kTopKernels = 15, kTopLaunches = 5;

struct Question {
  std::string_view item;
  std::string_view name;
  Scenario scenario;
  int64_t floor_ns = 0;  // the new wall time is at least this
};

std::vector<Question> questions(const AnalysisInput& input, const DependencyGraph& graph, const NodeSelection& selected,
                                const WindowIdle& idle) {
  const Dependencies& waits = graph.dependencies();
  std::vector<Question> all = {
      {"launch calls", "all", without_launch_calls()},
      {"launch latency", "all", without_launch_latency()},
      {"between operations", "all", without_delays()},
      {"launch calls, latency and delays", "all (as in one CUDA graph)", without_launch_cost()},
      {"host work outside CUDA calls", "all", without_host_work()},
      {"synchronisation", "all", without_synchronizations()},
      {"waiting in copy calls", "all", without_blocked_copies(waits)},
      {"allocation calls", "all", without_calls(NodeKind::AllocationCall)},
      {"other calls", "all", without_calls(NodeKind::OtherCall)},
      {"queue full", "all", without_full_queue(waits)},
      {"copies and memsets", "all", without_copies()},
      {"copies and memsets", "all, overlapped with all else", without_copies(), longest_copies_ns(graph, selected)},
  };
  // What the host did while a device was idle, by its cause in the report idle.
  std::map<size_t, std::vector<const HostPieces*>> by_charge;
  for (const auto& [key, pieces] : idle.host) by_charge[pieces.charge.number()].push_back(&pieces);
  for (const auto& [charge, pieces] : by_charge) {
    if (Scenario scenario = without_pieces(pieces); !scenario.empty())
      all.push_back({"host work while a device was idle", GapCharge::of_number(charge).text(), std::move(scenario)});
  }
  size_t kernels = 0, launches = 0;
  for (const NamedNodes& nodes : named_nodes(input, graph, selected)) {
    switch (nodes.kind) {
      case NodeKind::Kernel:
        if (++kernels <= kTopKernels) all.push_back({"kernel", nodes.name, without_own(nodes)});
        break;
      case NodeKind::KernelCall:
        if (++launches <= kTopLaunches) all.push_back({"launches of a kernel", nodes.name, without_own(nodes)});
        break;
      case NodeKind::Copy:
      case NodeKind::Fill: all.push_back({"copies and memsets", nodes.name, without_own(nodes)}); break;
      case NodeKind::SynchronizationCall: all.push_back({"synchronisation", nodes.name, without_waits(nodes)}); break;
      case NodeKind::AllocationCall: all.push_back({"allocation calls", nodes.name, without_own(nodes)}); break;
      case NodeKind::MemoryCall:
        if (nodes.returns != 0) all.push_back({"waiting in copy calls", nodes.name, without_waits(nodes)});
        break;
      default: break;
    }
  }
  return all;
}

}  // namespace

Table report_what_if(const AnalysisInput& input) {
  Table table("what-if", "What if it took no time: wall time saved at most");
  const std::vector<Window> windows = graph_windows(input);
  add_window_column(table, windows);
  table.add_columns({ColumnId::item, ColumnId::name, ColumnId::count, ColumnId::own_time, ColumnId::saved});
  table.add_column(ColumnId::wall_percent, 1);
  table.add_columns({ColumnId::new_wall, ColumnId::assumed});
  const NodeSelection selected(input);
  const HostIdle idle(input, windows, false);
  for_each_graph(input, windows, table, [&](const Window& window, const DependencyGraph& graph) {
    const std::vector<Question> asked = questions(input, graph, selected, idle.of(window));
    std::vector<Scenario> scenarios;
    for (const Question& question : asked) scenarios.push_back(question.scenario);
    const std::vector<Outcome> outcomes = Replay(graph, selected.filter()).walls_without(scenarios);
    add_bound_notes(table, graph);
    struct Answer {
      const Question* question;
      Outcome outcome;
    };
    std::vector<Answer> answers;
    for (size_t i = 0; i < asked.size(); ++i) {
      Outcome outcome = outcomes[i];
      for (int64_t* const wall_ns : {&outcome.wall_ns, &outcome.known_ns})
        *wall_ns = std::min(std::max(*wall_ns, asked[i].floor_ns), graph.wall_ns());
      if (outcome.count != 0) answers.push_back({&asked[i], outcome});
    }
    std::stable_sort(answers.begin(), answers.end(),
                     [](const Answer& a, const Answer& b) { return a.outcome.wall_ns < b.outcome.wall_ns; });
    for (const auto& [question, outcome] : answers) {
      const int64_t saved = graph.wall_ns() - outcome.wall_ns;
      Table::Row row = table.row();
      if (windows.size() > 1) row.add(window.label);
      row.add(question->item)
          .add(question->name)
          .add(outcome.count)
          .add(outcome.own_ns)
          .add(saved)
          .add(percent(saved, graph.wall_ns()))
          .add(outcome.wall_ns)
          .add(outcome.known_ns - outcome.wall_ns);
    }
  });
  return table;
}

}  // namespace prof::analyzer
