#include "analyzer/analysis/critical/run_graph.h"

#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/base/parallel.h"
#include "analyzer/base/row_chunks.h"
#include "analyzer/base/saturated.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr uint32_t kLaunchNodes = kind_bit(NodeKind::KernelCall) | kind_bit(NodeKind::GraphCall);

bool in(const std::vector<uint32_t>& sorted, uint32_t row) {
  return std::binary_search(sorted.begin(), sorted.end(), row);
}

}  // namespace

Interval launched_span(const Trace& trace) {
  const size_t in_part = rows_per_chunk(1 << 16);
  const size_t operations = trace.operations.size(), calls = trace.host.size();
  const size_t operation_parts = (operations + in_part - 1) / in_part, call_parts = (calls + in_part - 1) / in_part;
  std::vector<Interval> parts(operation_parts + call_parts,
                              {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()});
  parallel_for(parts.size(), [&](size_t part) {
    Interval span = parts[part];
    if (part >= operation_parts) {
      const size_t from = (part - operation_parts) * in_part;
      for (size_t row = from; row < std::min(calls, from + in_part); ++row)
        span.end_ns = std::max(span.end_ns, trace.host[row].end_ns);
    } else {
      for (size_t row = part * in_part; row < std::min(operations, (part + 1) * in_part); ++row) {
        const GpuOperation& operation = trace.operations[row];
        span.begin_ns = std::min(span.begin_ns, operation.start_ns);
        if (operation.linked()) span.begin_ns = std::min(span.begin_ns, trace.host[operation.launch].begin_ns);
        span.end_ns = std::max({span.end_ns, operation.start_ns, operation.end_ns});
      }
    }
    parts[part] = span;
  });
  if (operations == 0) return {};
  Interval all = parts.front();
  for (const Interval& part : parts) {
    all.begin_ns = std::min(all.begin_ns, part.begin_ns);
    all.end_ns = std::max(all.end_ns, part.end_ns);
  }
  return all;
}

std::vector<Window> graph_windows(const AnalysisInput& input) {
  if (input.options.window != "gpu") return report_windows(input);
  const Interval span = launched_span(input.trace);
  Window window{"first launch to last event", std::max(span.begin_ns, input.selection.from_ns),
                std::min(span.end_ns, input.selection.to_ns)};
  if (window.end_ns <= window.begin_ns) return {};
  return {window};
}

DependencyGraph make_graph(const AnalysisInput& input, const Window& window) {
  return DependencyGraph(input.trace, input.views.dependencies(), window.begin_ns, window.end_ns);
}

void add_graph_notes(Table& table, const AnalysisInput& input, const Window& window, const DependencyGraph& graph) {
  const int64_t replayed = Replay(graph).wall_ns();
  table.notes.push_back(fmt::format("{}; wall {}, replayed without change {} (error {})", window_note(window),
                                    scaled_time(graph.wall_ns()), scaled_time(replayed),
                                    scaled_time(replayed - graph.wall_ns())));
  const Dependencies& dependencies = input.views.dependencies();
  if (dependencies.inferred + dependencies.contradicted != 0) {
    table.notes.push_back(fmt::format("waits: {} inferred from times alone, {} denied by the times and dropped",
                                      dependencies.inferred, dependencies.contradicted));
  }
  if (dependencies.unknown == 0) return;
  table.notes.push_back(fmt::format(
      "waits: {} of streams for what the log does not say (events recorded unseen, by a graph or for a whole context; "
      "words of memory that no recorded call wrote)",
      dependencies.unknown));
}

void add_bound_notes(Table& table, const DependencyGraph& graph) {
  if (graph.shared_ns() == 0) return;
  table.notes.push_back(fmt::format(
      "kernels ran beside others of their GPU for {}: bounds assume that they may take less without the others",
      scaled_time(graph.shared_ns())));
}

std::string_view node_name(const AnalysisInput& input, NodeKind kind, uint32_t subject) {
  const Trace& trace = input.trace;
  GpuOperation operation;
  operation.detail = subject;
  switch (kind) {
    case NodeKind::KernelCall:
    case NodeKind::Kernel:
      return input.views.names().name(KernelId{subject < trace.kernels.size() ? subject : 0}, input.options.names);
    case NodeKind::Copy:
    case NodeKind::Fill:
      operation.set_kind(kind == NodeKind::Copy ? GpuKind::Copy : GpuKind::Fill);
      return operation_name(input.views.names(), operation, input.options.names);
    case NodeKind::Point:
    case NodeKind::Join: return "";
    default: break;
  }
  const std::string_view name = subject < trace.apis.size() ? trace.text(trace.apis[subject]) : "";
  return name.empty() ? "[unknown call]" : plain_api_name(name);
}

NodeSelection::NodeSelection(const AnalysisInput& input)
    : trace_(input.trace), nvtx_(input.selection.nvtx), by_launch_(!input.selection.threads.empty()) {
  const Selection& selection = input.selection;
  if (by_launch_ || !selection.processes.empty()) {
    for (const Thread& thread : trace_.threads) threads_.push_back(selection.has_thread(thread));
  }
  if (selection.devices.empty() && selection.streams.empty() && selection.processes.empty()) return;
  for (const Stream& stream : trace_.streams) streams_.push_back(selection.has_stream(trace_, stream));
  calls_ = calls_of_selected_streams(input);
}

bool NodeSelection::picks(const Node& node) const {
  if ((kind_bit(node.kind()) & kOperationNodes) != 0) {
    const GpuOperation& operation = trace_.operations[node.row];
    if (!nvtx_.has_operation(node.row)) return false;
    if (!streams_.empty() && !streams_[operation.stream_index]) return false;
    return !by_launch_ || (operation.linked() && has_thread(trace_.host[operation.launch].thread));
  }
  if (node.kind() == NodeKind::Join) return false;
  if (node.kind() == NodeKind::Point) return calls_.empty() && !nvtx_.given() && has_thread(ThreadId{node.row});
  if (!nvtx_.has_call(node.row) || !has_thread(trace_.host[node.row].thread)) return false;
  return calls_.empty() || calls_[node.row];
}

std::function<bool(const Node&)> NodeSelection::filter() const {
  if (all()) return {};
  return [this](const Node& node) { return has(node); };
}

std::vector<NamedNodes> named_nodes(const AnalysisInput& input, const DependencyGraph& graph,
                                    const NodeSelection& selected) {
  struct Sum {
    uint64_t count = 0, returns = 0;
    int64_t own_ns = 0;
  };
  // There are few subjects, but subjects of copies may be any numbers.
  constexpr uint32_t kDense = 1 << 12;
  std::vector<Sum> dense[kNodeKinds];
  std::unordered_map<uint32_t, Sum> sums[kNodeKinds];
  graph.each_node(kCallNodes | kOperationNodes, [&](uint32_t, const Node& node) {
    if (!selected.has(node)) return;
    const auto kind = static_cast<size_t>(node.kind());
    const uint32_t subject = node.subject();
    if (subject < kDense && dense[kind].empty()) dense[kind].resize(kDense);
    Sum& sum = subject < kDense ? dense[kind][subject] : sums[kind][subject];
    grow(sum.own_ns, graph.time(node.own));
    if (node.has(kNodeReturns)) {
      ++sum.returns;
    } else {
      ++sum.count;
    }
  });
  for (uint32_t kind = 0; kind < kNodeKinds; ++kind) {
    for (uint32_t subject = 0; subject < dense[kind].size(); ++subject) {
      if (const Sum& sum = dense[kind][subject]; sum.count + sum.returns != 0) sums[kind].emplace(subject, sum);
    }
  }
  std::map<std::pair<uint32_t, std::string_view>, NamedNodes> by_name;
  for (uint32_t kind = 0; kind < kNodeKinds; ++kind) {
    for (const auto& [subject, sum] : sums[kind]) {
      const std::string_view name = node_name(input, static_cast<NodeKind>(kind), subject);
      NamedNodes& nodes = by_name[{kind, name}];
      nodes.kind = static_cast<NodeKind>(kind);
      nodes.name = name;
      if (nodes.subjects.size() <= subject) nodes.subjects.resize(subject + 1);
      nodes.subjects[subject] = true;
      nodes.count += sum.count;
      nodes.returns += sum.returns;
      grow(nodes.own_ns, sum.own_ns);
    }
  }
  std::vector<NamedNodes> all;
  for (auto& [key, nodes] : by_name) all.push_back(std::move(nodes));
  std::stable_sort(all.begin(), all.end(),
                   [](const NamedNodes& a, const NamedNodes& b) { return a.own_ns > b.own_ns; });
  return all;
}

Scenario without_launch_calls() {
  return {{kLaunchNodes, kPartOwn, 0, 0, {}, {}}, {kind_bit(NodeKind::MemoryCall), kPartOwn, 0, kNodeReturns, {}, {}}};
}

Scenario without_launch_latency() { return {{kOperationNodes, kPartOther, kNodeBoundByOther, 0, {}, {}}}; }

Scenario without_delays() { return {{kOperationNodes, kPartBefore, 0, kNodeBoundByOther | kNodeUnexplained, {}, {}}}; }

Scenario without_launch_cost() {
  Scenario all = without_launch_calls();
  for (const Scenario& more : {without_launch_latency(), without_delays()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

Scenario without_host_work() { return {{kHostNodes, kPartBefore, 0, kNodeUnexplained | kNodeReturns, {}, {}}}; }

Scenario without_calls(NodeKind kind) { return {{kind_bit(kind), kPartOwn, 0, 0, {}, {}}}; }

Scenario without_synchronizations() {
  return {{kind_bit(NodeKind::SynchronizationCall), kPartOwn | kPartWait, 0, 0, {}, {}}};
}

Scenario without_blocked_copies(const Dependencies& dependencies) {
  return {{kind_bit(NodeKind::MemoryCall), kPartOwn | kPartWait, kNodeReturns, 0, {}, [&](uint32_t row) {
             return !in(dependencies.blocked_launches, row);
           }}};
}

Scenario without_full_queue(const Dependencies& dependencies) {
  return {{kLaunchNodes | kind_bit(NodeKind::MemoryCall), kPartWait, kNodeReturns, 0, {}, [&](uint32_t row) {
             return in(dependencies.blocked_launches, row);
           }}};
}

Scenario without_own(const NamedNodes& nodes) { return {{kind_bit(nodes.kind), kPartOwn, 0, 0, nodes.subjects, {}}}; }

Scenario without_waits(const NamedNodes& nodes) {
  return {{kind_bit(nodes.kind), kPartOwn | kPartWait, 0, 0, nodes.subjects, {}}};
}

Scenario without_copies() { return {{kind_bit(NodeKind::Copy) | kind_bit(NodeKind::Fill), kPartOwn, 0, 0, {}, {}}}; }

int64_t longest_copies_ns(const DependencyGraph& graph, const NodeSelection& selected) {
  std::map<std::pair<uint32_t, uint32_t>, int64_t> sums;  // (device, direction)
  int64_t longest = 0;
  for (const Node& node : graph.nodes()) {
    if (node.kind() != NodeKind::Copy || !selected.has(node)) continue;
    const StreamId stream = graph.trace().operations[node.row].stream();
    int64_t& sum = sums[{index(graph.trace().stream(stream).device), GpuOperation::copy_kind_of(node.subject())}];
    grow(sum, graph.time(node.own));
    longest = std::max(longest, sum);
  }
  return longest;
}

}  // namespace prof::analyzer
