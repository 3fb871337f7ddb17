// graphs: how much GPU time did each compiled graph take? A graph is a range that torch.compile opens around its code
// ("Torch-Compiled Region: …", "## Call CompiledFxGraph … ##"), or any range that --range selects. An operation is
// inside a graph if its launch is.
#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/base/name_pattern.h"
#include "analyzer/base/saturated.h"
#include "analyzer/base/statistics.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

namespace prof::analyzer {

namespace {

bool is_compiled_graph(std::string_view text) {
  return text.starts_with("Torch-Compiled Region") || text.starts_with("## Call CompiledFxGraph");
}

// Which ranges are requested, by LabelId and by PathId. The ranges around a launch are a chain of labels.
class Wanted {
 public:
  explicit Wanted(const AnalysisInput& input) : trace_(input.trace) {
    std::optional<NamePattern> pattern;
    if (!input.options.range.empty()) pattern.emplace(input.options.range);
    for (const Label& label : trace_.labels) {
      const std::string text(trace_.text(label.text));
      labels_.push_back(!text.empty() && (is_compiled_graph(text) || (pattern && pattern->matches(text, text))));
      backward_labels_.push_back(text.find("Backward") != std::string::npos);
    }
    nearest_.resize(trace_.paths.size());
    backward_.resize(trace_.paths.size());
    for (uint32_t p = 1; p < trace_.paths.size(); ++p) {  // a parent comes before its children
      const PathNode& node = trace_.paths[p];
      nearest_[p] = labels_[index(node.label)] ? p : nearest_[index(node.parent)];
      backward_[p] = backward_labels_[index(node.label)] || backward_[index(node.parent)];
    }
  }

  bool is(LabelId label) const { return labels_[index(label)]; }
  // The innermost requested range in a chain, including the path itself; 0: none.
  uint32_t nearest(uint32_t path) const { return nearest_[path]; }
  uint32_t outer(uint32_t path) const { return nearest_[index(trace_.paths[path].parent)]; }
  bool backward(uint32_t path) const { return backward_[path]; }

 private:
  const Trace& trace_;
  std::vector<bool> labels_, backward_labels_;  // by LabelId
  std::vector<uint32_t> nearest_;               // by PathId
  std::vector<bool> backward_;
};

struct Graph {
  uint64_t calls = 0;
  int64_t host_ns = 0;
  struct OnDevice {
    uint32_t number = 0;  // number of its group in the estimates
    uint64_t operations = 0, kernels = 0;
    int64_t sum_ns = 0;
    std::vector<Interval> intervals;
  };
  std::map<uint32_t, OnDevice> devices;  // by DeviceId
};

// (text, backward, process): ranges with the same text are one graph.
using GraphKey = std::tuple<StringId, bool, uint32_t>;
using Graphs = std::map<GraphKey, Graph>;

void count_calls(const AnalysisInput& input, const Wanted& wanted, const IntervalSet& windows, Graphs& graphs) {
  const Trace& trace = input.trace;
  for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
    const Range& range = trace.ranges[row];
    if (range.style != RangeStyle::PushPop || !wanted.is(range.label) || !windows.contains(range.begin_ns)) continue;
    const Thread& thread = trace.thread(range.thread);
    if (!input.selection.has_thread(thread) || !input.selection.nvtx.has_range(row)) continue;
    Graph& graph =
        graphs[{trace.labels[index(range.label)].text, wanted.backward(index(range.path)), index(thread.process)}];
    ++graph.calls;
    grow(graph.host_ns, std::max<int64_t>(range.end_ns - range.begin_ns, 0));
  }
}

// Calls take(key) for each graph around a launch call. A graph nested in itself counts once.
template <class Take> void graphs_of(const AnalysisInput& input, const Wanted& wanted, uint32_t call, Take&& take) {
  const Trace& trace = input.trace;
  const uint32_t range = input.views.range_of_call()[call];
  if (range == kNone) return;
  std::vector<GraphKey> seen;
  for (uint32_t p = wanted.nearest(index(trace.ranges[range].path)); p != 0; p = wanted.outer(p)) {
    const GraphKey key{trace.labels[index(trace.paths[p].label)].text, wanted.backward(p),
                       index(trace.thread(trace.host[call].thread).process)};
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
    seen.push_back(key);
    take(key);
  }
}

void collect_operations(const AnalysisInput& input, const Wanted& wanted, const IntervalSet& windows, Graphs& graphs,
                        Estimates& estimates) {
  const Trace& trace = input.trace;
  std::map<GraphKey, uint32_t> strata;
  const auto stratum = [&](const GraphKey& key) {
    return strata.try_emplace(key, static_cast<uint32_t>(strata.size() + 1)).first->second;
  };
  estimates.for_each_launch([&](uint32_t row) {
    graphs_of(input, wanted, row, [&](const GraphKey& key) { estimates.launch(row, stratum(key)); });
  });
  uint32_t numbers = 0;
  for_each_selected(
      input, [](StreamId) { return true; },
      [&](uint32_t, const GpuOperation& operation) {
        if (!operation.linked()) return;
        const HostEvent& launch = trace.host[operation.launch];
        if (!windows.contains(launch.begin_ns)) return;
        graphs_of(input, wanted, operation.launch, [&](const GraphKey& key) {
          Graph::OnDevice& on = graphs[key].devices[index(trace.stream(operation.stream()).device)];
          if (on.operations == 0) on.number = numbers++;
          estimates.add_of(stratum(key), operation, on.number, static_cast<double>(operation.duration_ns()));
          ++on.operations;
          on.kernels += operation.has_kernel() ? 1 : 0;
          grow(on.sum_ns, operation.duration_ns());
          on.intervals.push_back({operation.start_ns, operation.end_ns});
        });
      });
}

struct GraphRow {
  GraphKey key;
  const Graph* graph = nullptr;
  const Graph::OnDevice* on = nullptr;
  uint32_t device = kNone;
  int64_t union_ns = 0, span_ns = 0;
};

std::vector<GraphRow> rows_of(Graphs& graphs) {
  std::vector<GraphRow> rows;
  for (auto& [key, graph] : graphs) {
    if (graph.devices.empty()) rows.push_back({key, &graph});
    for (auto& [device, on] : graph.devices) {
      GraphRow& row = rows.emplace_back(GraphRow{key, &graph, &on, device});
      const IntervalSet busy(std::move(on.intervals));
      row.union_ns = busy.length_ns();
      if (!busy.empty()) row.span_ns = busy.parts().back().end_ns - busy.parts().front().begin_ns;
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const GraphRow& a, const GraphRow& b) { return a.union_ns > b.union_ns; });
  return rows;
}

}  // namespace

Table report_graphs(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  const Wanted wanted(input);
  const std::vector<Window> windows = report_windows(input);
  // A launch precedes its operations, so the window of GPU operations does not limit it.
  const bool everything = input.options.window == "gpu";
  const IntervalSet where =
      everything ? IntervalSet({{std::max(input.selection.from_ns, std::numeric_limits<int64_t>::min() / 2),
                                 std::min(input.selection.to_ns, std::numeric_limits<int64_t>::max() / 2)}})
                 : union_of(windows);
  Graphs graphs;
  count_calls(input, wanted, where, graphs);
  Estimates estimates(input, RowsAre::ByWork);
  collect_operations(input, wanted, where, graphs, estimates);

  Table table("graphs", "GPU time of compiled graphs and ranges");
  table.add_columns({ColumnId::pid, ColumnId::device, ColumnId::pass, ColumnId::calls, ColumnId::kernels,
                     ColumnId::operations, ColumnId::gpu_sum});
  estimates.add_columns(table);
  table.add_columns({ColumnId::gpu_busy, ColumnId::busy_percent, ColumnId::window_percent, ColumnId::wall_percent,
                     ColumnId::gpu_span, ColumnId::host_time, ColumnId::compiled_graph});
  table.notes.emplace_back(
      "GPU sum and busy (union): operations whose launch is inside a range of that text; inner ranges are "
      "part of outer ones");
  for (const Window& window : windows) {
    if (windows.size() <= 20) table.notes.push_back(window_note(window));
  }
  estimates.add_notes(table);
  int64_t window_ns = 0;
  for (const Window& window : windows) grow(window_ns, window.length_ns());
  for (const GraphRow& graph : rows_of(graphs)) {
    const auto& [text, backward, process] = graph.key;
    Table::Row row = table.row();
    const auto share = [&](double whole_ns) { row.add_percent(graph.union_ns, whole_ns); };
    row.add_owner(process);
    if (graph.device == kNone) {
      row.empty();
    } else {
      row.add(trace.devices[graph.device].ordinal);
    }
    row.add(std::string_view(backward ? "backward" : is_compiled_graph(trace.text(text)) ? "forward" : ""));
    row.add(graph.graph->calls);
    row.add(graph.on == nullptr ? uint64_t{0} : graph.on->kernels);
    row.add(graph.on == nullptr ? uint64_t{0} : graph.on->operations);
    row.add(graph.on == nullptr ? int64_t{0} : graph.on->sum_ns);
    if (graph.on == nullptr) {
      estimates.add_no_cells(row);
    } else {
      estimates.add_cells(row, graph.on->number);
    }
    row.add(graph.union_ns);
    int64_t busy_ns = 0;
    for (const Window& window : windows) {
      if (graph.device != kNone)
        grow(busy_ns, input.views.busy()[graph.device].overlap_ns(window.begin_ns, window.end_ns));
    }
    share(static_cast<double>(busy_ns));
    share(static_cast<double>(window_ns));
    share(input.options.wall_ms * 1e6);
    row.add(graph.span_ns).add(graph.graph->host_ns).add(trace.text(text));
  }
  if (table.rows() == 0) {
    table.notes.emplace_back("no range of a compiled graph in the input; --range PATTERN selects others");
  }
  return table;
}

}  // namespace prof::analyzer
