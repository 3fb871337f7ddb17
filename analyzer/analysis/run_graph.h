// What critical-path, what-if and advise share: the windows they are about, and what a window's graph consists of.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/window.h"
#include "analyzer/model/replay.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// As report_windows(), but `gpu` begins when the first GPU work was launched and ends with the last call or operation: the
// host's share of a run lies before its first operation and behind its last one.
std::vector<Window> graph_windows(const AnalysisInput& input);

DependencyGraph make_graph(const AnalysisInput& input, const Window& window);

// The header lines every one of these tables has: window, wall time, that the replay was exact, what was inferred.
void add_graph_notes(Table& table, const AnalysisInput& input, const Window& window, const DependencyGraph& graph);

// Nodes of one kind and one name, over all subjects that have the name.
struct NamedNodes {
  NodeKind kind{};
  std::string_view name;
  std::vector<bool> subjects;
  uint64_t count = 0;
  int64_t own_ns = 0;
  uint64_t returns = 0;  // calls that waited
};

// Every kind and name in the graph, most time first. Names of kernels and copies as --names says, calls by their plain name.
std::vector<NamedNodes> named_nodes(const AnalysisInput& input, const DependencyGraph& graph);
std::string_view node_name(const AnalysisInput& input, NodeKind kind, uint32_t subject);

// The questions of what-if and advise. Each sets to 0 what its name says.
Scenario without_launch_calls();        // kernels, graphs, copies that do not wait
Scenario without_launch_latency();      // from the launch's return to the start, where nothing else was waited for
Scenario without_delays();              // between operations of a stream that were queued
Scenario without_launch_cost();         // the three together, as one graph launch would
Scenario without_host_work();           // of threads, between their calls
Scenario without_calls(NodeKind kind);  // allocations, other calls
Scenario without_synchronizations();
Scenario without_blocked_copies(const Dependencies& dependencies);
Scenario without_full_queue(const Dependencies& dependencies);
Scenario without_own(const NamedNodes& nodes);
Scenario without_waits(const NamedNodes& nodes);  // calls that wait: neither their time nor what they wait for
Scenario without_copies();

// The most a stretch of copies needs: the longest sum over one direction of one device. Copies that overlap everything else
// still take that.
int64_t longest_copies_ns(const DependencyGraph& graph);

}  // namespace prof::analyzer
