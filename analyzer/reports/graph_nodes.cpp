// graph-nodes: what did each node of a CUDA graph cost in all launches, and which call captured or added it? A row is a
// node of one executable graph, with its number in GPU records. Nodes that were never timed follow under the graph in
// which they would have run. These are host functions, and nodes of graphs that were timed as a whole or never
// launched.
#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/analysis/graph_launches.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace prof::analyzer {

namespace {

constexpr std::array<std::string_view, 14> kNodeTypes = {
    "kernel",       "memcpy",           "memset",         "host",      "child graph", "empty",         "event wait",
    "event record", "semaphore signal", "semaphore wait", "mem alloc", "mem free",    "memory values", "conditional"};

std::string_view type_text(uint32_t type) { return type < kNodeTypes.size() ? kNodeTypes[type] : "unknown"; }

std::string_view kind_text(GpuKind kind) {
  return kind == GpuKind::Kernel ? "kernel" : kind == GpuKind::Copy ? "memcpy" : "memset";
}

struct NodeRow {
  uint32_t number = 0;  // number of its group in the estimates
  uint32_t process = 0;
  uint64_t id = 0;  // graph_node_id() in the executable graph
  uint64_t runs = 0;
  int64_t sum_ns = 0, longest_ns = 0, shortest_ns = INT64_MAX;
  GpuKind kind{};
  NodeFound found;
  std::string name;
};

// (process, node, record of its creation, name). A node that was updated to launch something else has two rows.
using NodeKey = std::tuple<uint32_t, uint64_t, uint32_t, std::string_view>;

class Nodes {
 public:
  Nodes(const AnalysisInput& input, Estimates& estimates)
      : input_(input), estimates_(estimates), origins_(input.views.graph_origins()) {}

  void add_operations(const std::vector<Window>& windows) {
    const IntervalSet wanted = union_of(windows);
    const bool everything = input_.options.window == "gpu" && input_.selection.all();
    for_each_selected(
        input_, [](StreamId) { return true; },
        [&](uint32_t, const GpuOperation& operation) {
          if (operation.graph_node == 0 || operation.kind() == GpuKind::Graph) return;
          if (!everything && !wanted.contains(operation.start_ns)) return;
          add(operation);
        });
  }

  // Adds the nodes of instantiated graphs for which no operation was recorded.
  void add_untimed() {
    const Trace& trace = input_.trace;
    for (uint32_t g = 1; g < trace.graphs.size(); ++g) {
      const Graph& graph = trace.graphs[g];
      if (graph.number == 0) continue;
      for (const uint32_t row : origins_.nodes_of(graph.process, graph.number, trace.last_ns)) {
        if (!ran_.insert({index(graph.process), graph.number, row}).second) continue;
        NodeRow& node = nodes_.emplace_back();
        node.process = index(graph.process);
        node.id = graph_node_id(graph.number, index_in_graph(trace.graph_nodes[row].node));
        node.found = {NodeOrigin::Known, row};
      }
    }
  }

  std::vector<NodeRow>& rows() { return nodes_; }

 private:
  // Number of the executable graph that was launched. Operations of child graphs have another graph number.
  uint32_t launched(const GpuOperation& operation) const {
    const HostEvent* const launch = operation.linked() ? &input_.trace.host[operation.launch] : nullptr;
    const bool by_host = launch != nullptr && launch->kind() == HostKind::GraphLaunch;
    const uint32_t number = by_host ? input_.trace.graphs[launch->subject].number : 0;
    return number != 0 ? number : graph_of(operation.graph_node);
  }

  void add(const GpuOperation& operation) {
    const uint32_t process = index(input_.trace.process_of(operation.stream()));
    const NodeFound found = origins_.of(operation);
    const std::string_view name = operation_name(input_.views.names(), operation, input_.options.names);
    const auto [at, added] = rows_.try_emplace(NodeKey{process, operation.graph_node, found.row, name}, nodes_.size());
    if (added) {
      NodeRow& node = nodes_.emplace_back();
      node.process = process;
      node.id = operation.graph_node;
      node.number = static_cast<uint32_t>(at->second);
      node.kind = operation.kind();
      node.found = found;
      node.name = std::string(name);
    }
    if (found.origin == NodeOrigin::Known) ran_.insert({process, launched(operation), found.row});
    NodeRow& node = nodes_[at->second];
    const int64_t ns = std::max<int64_t>(operation.duration_ns(), 0);
    ++node.runs;
    estimates_.add(operation, node.number);
    grow(node.sum_ns, ns);
    node.longest_ns = std::max(node.longest_ns, ns);
    node.shortest_ns = std::min(node.shortest_ns, ns);
  }

  const AnalysisInput& input_;
  Estimates& estimates_;
  const GraphOrigins& origins_;
  std::map<NodeKey, size_t> rows_;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> ran_;  // process, executable graph, row of Trace::graph_nodes
  std::vector<NodeRow> nodes_;
};

void add_capture(const AnalysisInput& input, const NodeFound& found, PathsOfCalls& paths, Table::Row& row) {
  const Trace& trace = input.trace;
  if (found.origin != NodeOrigin::Known) {
    row.add(node_origin_text(found.origin)).empty().empty().empty();
    if (call_stacks(input.views).any()) row.empty();
    return;
  }
  const GraphNode& node = trace.graph_nodes[found.row];
  const HostEvent* const call = node.call == kNone ? nullptr : &trace.host[node.call];
  row.add(call == nullptr ? "call lost" : plain_api_name(trace.api_name(*call)));
  row.add(trace.thread(node.thread).tid).add(call == nullptr ? node.time_ns : call->begin_ns);
  row.add(std::string_view(call == nullptr ? std::string() : paths.text(node.call)));
  CallStacks& stacks = call_stacks(input.views);
  if (stacks.any()) row.add(std::string_view(stacks.best(stacks.of_node(found.row))));
}

}  // namespace

Table report_graph_nodes(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table("graph-nodes", "GPU time of the nodes of CUDA graphs, and where each was captured");
  table.add_columns(
      {ColumnId::pid, ColumnId::graph, ColumnId::node, ColumnId::kind, ColumnId::runs, ColumnId::gpu_time});
  Estimates estimates(input, RowsAre::ByWork);
  estimates.add_columns(table);
  table.add_columns({ColumnId::mean, ColumnId::min, ColumnId::max, ColumnId::captured_by, ColumnId::captured_thread,
                     ColumnId::captured_at, ColumnId::captured_path});
  if (call_stacks(input.views).any()) table.add_column(ColumnId::captured_code);
  table.add_column(ColumnId::name);
  table.notes.emplace_back(
      "captured by, at, in: the call that captured or added the node, when, and the ranges around it");
  const std::vector<Window> windows = report_windows(input);
  for (const Window& window : windows) {
    if (windows.size() <= 20) table.notes.push_back(window_note(window));
  }
  Nodes nodes(input, estimates);
  nodes.add_operations(windows);
  if (input.selection.all()) nodes.add_untimed();
  std::stable_sort(nodes.rows().begin(), nodes.rows().end(), [](const NodeRow& a, const NodeRow& b) {
    return std::tuple(-a.sum_ns, a.process, a.id) < std::tuple(-b.sum_ns, b.process, b.id);
  });
  PathsOfCalls paths(trace);
  std::array<uint64_t, 6> by_origin{};
  for (const NodeRow& node : nodes.rows()) {
    by_origin[static_cast<size_t>(node.found.origin)] += node.runs;
    const bool timed = node.runs != 0;
    Table::Row row = table.row();
    row.add_owner(node.process).add(graph_of(node.id)).add(index_in_graph(node.id));
    row.add(timed ? kind_text(node.kind) : type_text(trace.graph_nodes[node.found.row].type));
    if (timed) {
      row.add(node.runs).add(node.sum_ns);
      estimates.add_cells(row, node.number);
      row.add(static_cast<double>(node.sum_ns) / static_cast<double>(node.runs));
      row.add(node.shortest_ns).add(node.longest_ns);
    } else {
      row.empty().empty();
      estimates.add_no_cells(row);
      row.empty().empty().empty();
    }
    add_capture(input, node.found, paths, row);
    row.add(timed ? std::string_view(node.name) : node_kernel_name(input, node.found.row));
  }
  estimates.add_notes(table);
  table.notes.push_back(origin_note(by_origin));
  if (table.rows() == 0) table.notes.emplace_back("no operation of a CUDA graph in the input");
  return table;
}

}  // namespace prof::analyzer
