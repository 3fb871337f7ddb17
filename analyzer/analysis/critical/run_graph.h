// What do critical-path, what-if and advise share? Their windows, the graph of a window, its nodes by name, and the
// scenarios.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/dependencies/replay.h"
#include "analyzer/table/table.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// From the first launch to the last call or operation; empty without GPU operations.
Interval launched_span(const Trace& trace);

// Like report_windows(), but `gpu` is launched_span(), because host time before the first operation and after the last
// one belongs to the run.
std::vector<Window> graph_windows(const AnalysisInput& input);

DependencyGraph make_graph(const AnalysisInput& input, const Window& window);

// Calls visit(window, its graph) for each window, after its header lines are added.
template <class Visit>
void for_each_graph(const AnalysisInput& input, const std::vector<Window>& windows, Table& table, Visit&& visit);
// If there are several windows, each row begins with its window.
inline void add_window_column(Table& table, const std::vector<Window>& windows) {
  if (windows.size() > 1) table.add_column(ColumnId::window);
}

// The header lines of all these tables: the window, its wall time, that the replay was exact, and what was inferred.
void add_graph_notes(Table& table, const AnalysisInput& input, const Window& window, const DependencyGraph& graph);

// The header lines about what bounds of savings assume.
void add_bound_notes(Table& table, const DependencyGraph& graph);

// Which nodes do --process, --rank, --device, --stream, --thread and --nvtx select? The graph is always of the whole
// input; the selection decides which nodes are shown or changed. Operations: of these devices and streams, launched by
// these threads. Calls and the host time before them: of these threads; if devices or streams are given, only calls
// that concern one of their streams.
class NodeSelection {
 public:
  explicit NodeSelection(const AnalysisInput& input);
  bool all() const { return threads_.empty() && streams_.empty() && !nvtx_.given(); }
  bool has(const Node& node) const { return all() || picks(node); }
  // For a Replay; empty if everything is selected. It refers to this object.
  std::function<bool(const Node&)> filter() const;

 private:
  bool picks(const Node& node) const;
  bool has_thread(ThreadId thread) const { return threads_.empty() || threads_[index(thread)]; }
  const Trace& trace_;
  const NvtxSelection nvtx_;
  bool by_launch_ = false;               // operations: only those launched by selected threads
  std::vector<bool> threads_, streams_;  // empty: all
  std::vector<bool> calls_;              // by row of Trace::host: those that concern selected streams; empty: all
};

// Nodes of one kind and one name, over all subjects that have the name.
struct NamedNodes {
  NodeKind kind{};
  std::string_view name;
  std::vector<bool> subjects;
  uint64_t count = 0;
  int64_t own_ns = 0;
  uint64_t returns = 0;  // calls that waited
};

// Every kind and name of the selected nodes, longest time first. Names of kernels and copies follow --names; calls have
// plain names.
std::vector<NamedNodes> named_nodes(const AnalysisInput& input, const DependencyGraph& graph,
                                    const NodeSelection& selected);
std::string_view node_name(const AnalysisInput& input, NodeKind kind, uint32_t subject);

// The scenarios of what-if and advise. Each sets the named times to 0.
Scenario without_launch_calls();        // kernels, graphs, copies that do not wait
Scenario without_launch_latency();      // from the launch's return to the start, where nothing else was waited for
Scenario without_delays();              // between queued operations of a stream
Scenario without_launch_cost();         // the three above together, as in one graph launch
Scenario without_host_work();           // host time of threads between their calls
Scenario without_calls(NodeKind kind);  // allocations, other calls
Scenario without_synchronizations();
Scenario without_blocked_copies(const Dependencies& dependencies);
Scenario without_full_queue(const Dependencies& dependencies);
Scenario without_own(const NamedNodes& nodes);
Scenario without_waits(const NamedNodes& nodes);  // calls that wait: their own time and their wait
Scenario without_copies();

// The minimum time that copies need even if everything else overlaps them: the longest sum of the selected copies in
// one direction of one device.
int64_t longest_copies_ns(const DependencyGraph& graph, const NodeSelection& selected);

template <class Visit>
void for_each_graph(const AnalysisInput& input, const std::vector<Window>& windows, Table& table, Visit&& visit) {
  for (const Window& window : windows) {
    const DependencyGraph graph = make_graph(input, window);
    add_graph_notes(table, input, window, graph);
    visit(window, graph);
  }
}

}  // namespace prof::analyzer
