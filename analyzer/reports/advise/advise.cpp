// advise: what should be changed first? It lists the findings of all rules. Each shows the largest wall time that
// undoing it can save, which a replay of the dependency graph computes. The largest saving is first.
#include "analyzer/analysis/collectives/host_clocks.h"
#include "analyzer/analysis/idle/gaps.h"
#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/base/parallel.h"
#include "analyzer/base/statistics.h"
#include "analyzer/reports/advise/advise_idle_sentence.h"
#include "analyzer/reports/advise/advise_kernel_lines.h"
#include "analyzer/reports/advise/advise_rules.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

namespace prof::analyzer {

namespace {

// A finding that saves less than this share of the wall time is not listed.
constexpr double kWorthPercent = 0.5;
constexpr double kTrustedCoverage = 0.99;

// Empty if nearly all launches have GPU times and nearly all operations have a launch.
std::string coverage_warning(const Trace& trace) {
  Coverage all;
  for (const Process& process : trace.processes) all.add(process.coverage);
  const auto share = [](uint64_t part, uint64_t of) {
    return of == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(of);
  };
  const double launches = share(all.launches_with_gpu_time, all.launches);
  const double operations = share(all.operations_linked, all.operations);
  if (launches >= kTrustedCoverage && operations >= kTrustedCoverage) return "";
  return fmt::format(
      "coverage is low: {:.1f} % of launches have GPU times, {:.1f} % of GPU operations have a launch; "
      "bounds below are less certain",
      100 * launches, 100 * operations);
}

struct Finding {
  std::string_view rule;
  Advice advice;
  uint64_t count = 0;
  int64_t saved_ns = 0;
  int64_t assumed_ns = 0;  // of saved_ns
};

// Every rule needs a pass over the nodes of the graph, and so do the header lines. All passes run in parallel.
std::vector<Finding> findings(const AdviceInput& advice_input, Table& table) {
  const AnalysisInput& input = advice_input.input;
  const DependencyGraph& graph = advice_input.graph;
  const std::span<const AdviceRule> rules = advice_rules();
  std::vector<std::vector<Advice>> found(rules.size());
  std::vector<size_t> order(rules.size() + 1);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_partition(order.begin(), order.end(), [&](size_t i) { return i < rules.size() && rules[i].slow; });
  parallel_for(order.size(), [&](size_t turn) {
    const size_t i = order[turn];
    if (i < rules.size()) {
      rules[i].find(advice_input, found[i]);
    } else {
      add_graph_notes(table, input, advice_input.window, graph);
      add_bound_notes(table, graph);
    }
  });
  std::vector<Finding> all;
  std::vector<Scenario> scenarios;
  for (size_t i = 0; i < rules.size(); ++i) {
    for (Advice& advice : found[i]) {
      if (!advice.note.empty()) {
        const bool known = std::find(table.notes.begin(), table.notes.end(), advice.note) != table.notes.end();
        if (!known) table.notes.push_back(std::move(advice.note));  // of another window
        continue;
      }
      scenarios.push_back(advice.scenario);
      all.push_back({rules[i].name, std::move(advice)});
    }
  }
  const std::vector<Outcome> outcomes = Replay(graph, advice_input.selected.filter()).walls_without(scenarios);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].count = outcomes[i].count;
    const auto saved_ns = [&](int64_t wall_ns) {
      return std::max<int64_t>(0, graph.wall_ns() - std::max(wall_ns, all[i].advice.floor_ns));
    };
    all[i].saved_ns = saved_ns(outcomes[i].wall_ns);
    all[i].assumed_ns = all[i].saved_ns - saved_ns(outcomes[i].known_ns);
  }
  std::erase_if(all, [&](const Finding& finding) {
    return finding.saved_ns == 0 || percent(finding.saved_ns, graph.wall_ns()) < kWorthPercent;
  });
  std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) { return a.saved_ns > b.saved_ns; });
  return all;
}

void add_row(Table& table, const AnalysisInput& input, const Window& window, bool with_window, int64_t wall_ns,
             const Finding& finding) {
  const Trace& trace = input.trace;
  uint32_t call = finding.advice.call;
  const uint32_t operation = finding.advice.operation;
  if (operation != kNone) call = trace.operations[operation].launch;
  const uint32_t range = call == kNone ? kNone : input.views.range_of_call()[call];
  Table::Row row = table.row();
  if (with_window) row.add(window.label);
  row.add(finding.saved_ns).add(percent(finding.saved_ns, wall_ns)).add(finding.rule).add(finding.advice.finding);
  row.add(finding.advice.evidence).add(finding.count);
  row.add(range == kNone ? std::string() : range_text(trace, range));
  if (const Interval shown = finding.advice.shown; shown.length_ns() > 0) {
    row.add(shown.begin_ns).add(shown.end_ns);
  } else if (call == kNone && operation == kNone) {
    row.empty().empty();
  } else {
    const int64_t begin = call != kNone ? trace.host[call].begin_ns : trace.operations[operation].start_ns;
    int64_t end = call != kNone ? trace.host[call].end_ns : begin;
    if (operation != kNone) end = std::max(end, trace.operations[operation].end_ns);
    row.add(begin).add(end);
  }
  row.add(finding.advice.action).add(finding.advice.see).add(finding.assumed_ns);
  CallStacks& stacks = call_stacks(input.views);
  if (!stacks.any()) return;
  const uint32_t culprit = finding.advice.culprit;
  StackId stack = finding.advice.stack;
  if (stack == StackId{} && culprit != kNone) stack = stacks.of_call(culprit);
  if (stack == StackId{} && operation != kNone) stack = stacks.of_operation(trace.operations[operation]);
  if (stack == StackId{} && call != kNone) stack = stacks.of_call(call);
  const std::string code = stacks.text_from_best(stack, 3);
  row.add_text(code);
}

// The cell of the column with this key, as text. Times are scaled.
std::string cell(const Table& table, size_t row, std::string_view key) {
  for (const TableColumn& column : table.columns()) {
    if (column.key != key || column.cells[row] == kEmptyCell) continue;
    if (column.type == CellType::Text) return readable_utf8(table.text(column.cells[row]));
    if (column.type == CellType::Nanoseconds) return scaled_time(column.cells[row]);
    if (column.type == CellType::Real) return fmt::format("{:.1f}", Table::real(column.cells[row]));
    return std::to_string(column.cells[row]);
  }
  return "";
}

// Writes one paragraph per finding, because sentences do not fit into columns.
std::string as_text(const Table& table, bool whole) {
  if (table.rows() == 0)
    return whole ? "nothing found that would save half a percent of the wall time\n"
                 : "nothing can be said: a part of the input is not understood or has no usable time, see above\n";
  std::string text;
  for (size_t row = 0; row < table.rows(); ++row) {
    const auto get = [&](std::string_view key) { return cell(table, row, key); };
    const std::string window = get("window"), range = get("in"), from = get("start");
    if (row != 0) text += '\n';
    text += fmt::format("{}. at most {} ({} % of wall{}): {}\n", row + 1, get("saved"), get("wall_percent"),
                        window.empty() ? "" : " of " + window, get("finding"));
    if (const std::string assumed = get("assumed"); assumed != scaled_time(0))
      text +=
          fmt::format("   assumed: {} of it, because the cause of some operations or calls is not known\n", assumed);
    text += fmt::format("   seen: {}; rows: prof report {}\n", get("evidence"), get("see"));
    if (!from.empty()) {
      text += fmt::format("   longest: {}--from {} --to {}\n", range.empty() ? "" : fmt::format("in {}, ", range), from,
                          get("end"));
    }
    if (const std::string code = get("code"); !code.empty()) text += fmt::format("   code: {}\n", code);
    text += fmt::format("   do:   {}\n", get("action"));
  }
  return text;
}

}  // namespace

Table report_advise(const AnalysisInput& input) {
  Table table("advise", "What to change first: wall time saved at most");
  const std::vector<Window> windows = graph_windows(input);
  const bool several = windows.size() > 1;
  if (several) table.add_column(ColumnId::window);
  table.add_column(ColumnId::saved);
  table.add_column(ColumnId::wall_percent, 1);
  table.add_columns({ColumnId::rule, ColumnId::finding, ColumnId::evidence, ColumnId::count, ColumnId::in,
                     ColumnId::start, ColumnId::end, ColumnId::action, ColumnId::see, ColumnId::assumed});
  if (call_stacks(input.views).any()) table.add_column(ColumnId::code);
  for (std::string& sentence : idle_sentences(input, windows)) table.notes.push_back(std::move(sentence));
  for (std::string& sentence : kernel_line_sentences(input)) table.notes.push_back(std::move(sentence));
  if (const std::string warning = coverage_warning(input.trace); !warning.empty()) table.notes.push_back(warning);
  const NodeSelection selected(input);
  std::unique_ptr<AdviceShared> shared;
  for (const Window& window : windows) {
    std::unique_ptr<const DependencyGraph> graph;
    parallel_for(shared == nullptr ? 2 : 1, [&](size_t i) {
      if (i == 0) {
        graph = std::make_unique<const DependencyGraph>(make_graph(input, window));
      } else {
        shared = std::make_unique<AdviceShared>(input, windows);
      }
    });
    const std::vector<NamedNodes> named = named_nodes(input, *graph, selected);
    for (const Finding& finding : findings({input, *shared, window, *graph, selected, named}, table))
      add_row(table, input, window, several, graph->wall_ns(), finding);
  }
  add_clock_notes(table, input.trace);
  table.notes.push_back("bounds are of one change at a time and do not add up");
  bool whole = true;
  for (const Process& process : input.trace.processes) {
    for (const std::string& each : process.partial) table.notes.push_back(fmt::format("not judged: {}", each));
    whole = whole && process.partial.empty();
  }
  table.text_form = [whole](const Table& cut) { return as_text(cut, whole); };
  return table;
}

}  // namespace prof::analyzer
