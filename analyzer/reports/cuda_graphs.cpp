// cuda-graphs: how often was each executable CUDA graph launched, from where, and what did its launches cost? A row is
// a graph and a place: process, thread and chain of ranges of the launch calls. A launch counts once, however many
// operations it has.
#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/analysis/graph_launches.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace prof::analyzer {

namespace {

// (row of Trace::graphs, thread, path, api)
using LaunchKey = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;

struct Launches {
  uint32_t number = 0;  // number of its group in the estimates
  uint64_t count = 0, operations = 0;
  int64_t call_ns = 0, sum_ns = 0;
  std::vector<Interval> intervals;
  std::array<uint64_t, 6> by_origin{};
};

struct Found {
  std::map<LaunchKey, Launches> graphs;
  std::array<uint64_t, 6> by_origin{};
  uint64_t without_launch = 0;  // operations of graphs without a recorded launch call
};

bool is_launch(const HostEvent& event) {
  return event.kind() == HostKind::GraphLaunch && !event.has(kHostCaptured) && event.result() == 0;
}

Found find_launches(const AnalysisInput& input, const std::vector<Window>& windows, Estimates& estimates) {
  const Trace& trace = input.trace;
  const IntervalSet wanted = union_of(windows);
  const bool everything = input.options.window == "gpu" && input.selection.all();
  const GraphOrigins& origins = input.views.graph_origins();
  PathsOfCalls paths(trace);
  Found found;
  const auto of = [&](uint32_t call) -> Launches& {
    const HostEvent& event = trace.host[call];
    const LaunchKey key{static_cast<uint32_t>(event.subject), index(event.thread), index(paths.of(call)), event.api()};
    const auto [at, added] = found.graphs.try_emplace(key);
    if (added) at->second.number = static_cast<uint32_t>(found.graphs.size());
    return at->second;
  };
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    const HostEvent& event = trace.host[row];
    if (!is_launch(event) || !input.selection.has_thread(trace.thread(event.thread))) continue;
    if (!input.selection.nvtx.has_call(row)) continue;
    if (!input.selection.in_window(event.begin_ns, event.end_ns)) continue;
    Launches& launches = of(row);
    ++launches.count;
    grow(launches.call_ns, event.duration_ns());
    estimates.launch(row, launches.number);
  }
  for_each_selected(
      input, [](StreamId) { return true; },
      [&](uint32_t, const GpuOperation& operation) {
        if (operation.graph_node == 0 || (!everything && !wanted.contains(operation.start_ns))) return;
        const NodeOrigin origin = origins.of(operation).origin;
        ++found.by_origin[static_cast<size_t>(origin)];
        if (!operation.linked() || !is_launch(trace.host[operation.launch])) {
          ++found.without_launch;
          return;
        }
        Launches& launches = of(operation.launch);
        ++launches.operations;
        estimates.add(operation, launches.number);
        grow(launches.sum_ns, operation.duration_ns());
        launches.intervals.push_back({operation.start_ns, operation.end_ns});
        ++launches.by_origin[static_cast<size_t>(origin)];
      });
  return found;
}

}  // namespace

Table report_cuda_graphs(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table("cuda-graphs", "Launches of CUDA graphs by graph and place");
  table.add_columns({ColumnId::pid, ColumnId::graph, ColumnId::made_from, ColumnId::kernels, ColumnId::copies,
                     ColumnId::memsets, ColumnId::host_nodes, ColumnId::other_nodes, ColumnId::launches,
                     ColumnId::call_time, ColumnId::operations, ColumnId::gpu_sum});
  Estimates estimates(input, RowsAre::ByLaunch);
  estimates.add_columns(table);
  table.add_columns(
      {ColumnId::gpu_busy, ColumnId::attributed, ColumnId::tid, ColumnId::launched_by, ColumnId::launched_path});
  table.notes.emplace_back(
      "kernels to other: nodes of one launch, child graphs included; attributed: operations whose capturing call is "
      "known");
  const std::vector<Window> windows = report_windows(input);
  for (const Window& window : windows) {
    if (windows.size() <= 20) table.notes.push_back(window_note(window));
  }
  Found found = find_launches(input, windows, estimates);
  std::vector<std::pair<const LaunchKey, Launches>*> order;
  for (auto& each : found.graphs) order.push_back(&each);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->second.sum_ns > b->second.sum_ns; });
  for (auto* each : order) {
    const auto& [graph_row, thread, path, api] = each->first;
    Launches& launches = each->second;
    const Graph& graph = trace.graphs[graph_row];
    Table::Row row = table.row();
    row.add_owner(trace.threads[thread].process);
    if (graph_row == 0 || graph.number == 0) {
      row.empty().empty();
    } else {
      const uint32_t from = input.views.graph_origins().source(graph.process, graph.number, trace.last_ns);
      row.add(graph.number);
      row.add_if(from != 0, from);
    }
    if (graph_row == 0) {
      row.empty().empty().empty().empty().empty();
    } else {
      row.add(graph.kernels).add(graph.copies).add(graph.fills).add(graph.host_nodes).add(graph.other_nodes);
    }
    row.add(launches.count).add(launches.call_ns).add(launches.operations).add(launches.sum_ns);
    estimates.add_cells(row, launches.number);
    row.add(IntervalSet(std::move(launches.intervals)).length_ns());
    row.add(launches.by_origin[static_cast<size_t>(NodeOrigin::Known)]).add(trace.threads[thread].tid);
    row.add(plain_api_name(trace.text(trace.apis[api]))).add(std::string_view(path_text(trace, PathId{path})));
  }
  estimates.add_notes(table);
  table.notes.push_back(origin_note(found.by_origin));
  if (found.without_launch != 0) {
    table.notes.push_back(fmt::format(
        "{} operations of graphs have no launch call: in bodies of conditional nodes, or the call is not in the input",
        found.without_launch));
  }
  if (table.rows() == 0) table.notes.emplace_back("no launch of a CUDA graph in the input");
  return table;
}

}  // namespace prof::analyzer
