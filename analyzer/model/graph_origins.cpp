#include "analyzer/model/graph_origins.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

constexpr int kDeepest = 16;  // copies of copies, graphs inside graphs
constexpr size_t kMostNumbered = size_t{1} << 22;
constexpr uint32_t kBody = 3;                                      // format::GraphOrigin
constexpr uint32_t kKernelNode = 0, kCopyNode = 1, kFillNode = 2;  // CUgraphNodeType

uint32_t node_type(const GpuOperation& operation) {
  return operation.kind() == GpuKind::Kernel ? kKernelNode : operation.kind() == GpuKind::Copy ? kCopyNode : kFillNode;
}

}  // namespace

std::string_view node_origin_text(NodeOrigin origin) {
  switch (origin) {
    case NodeOrigin::NoGraph: return "";
    case NodeOrigin::Known: return "known";
    case NodeOrigin::BeforeRecording: return "captured before recording";
    case NodeOrigin::NotRecorded: return "not recorded";
    case NodeOrigin::Whole: return "timed as a whole";
    case NodeOrigin::Unknown: break;
  }
  return "unknown";
}

GraphOrigins::GraphOrigins(const Trace& trace)
    : trace_(trace), recorded_(trace.processes.size()), unidentified_(trace.processes.size()) {
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    recorded_[p] = trace.processes[p].is_prof_log() && !trace.processes[p].fact("graphs").empty();
    unidentified_[p] = trace.processes[p].counter(format::LossCounter::graph_nodes_unidentified) != 0;
  }
  for (uint32_t row = 0; row < trace.graph_nodes.size(); ++row) {
    const GraphNode& node = trace.graph_nodes[row];
    const ProcessId process = trace.thread(node.thread).process;
    recorded_[index(process)] = true;
    if (graph_of(node.node) == 0) continue;
    Records& records = nodes_[{index(process), node.node}];
    uint32_t kernel = node.kernel;
    if (kernel == 0 && node.call != kNone && trace.host[node.call].kind() == HostKind::KernelLaunch)
      kernel = static_cast<uint32_t>(trace.host[node.call].subject);
    if (kernel != 0) records.kernels.push_back(kernel);
    if (node.changed || records.made != kNone) continue;  // a node belongs to its first record
    records.made = row;
    graphs_[graph_key(process, graph_of(node.node))].indices.push_back(index_in_graph(node.node));
  }
  for (uint32_t row = 0; row < trace.graphs_made.size(); ++row) {
    const GraphMade& made = trace.graphs_made[row];
    const ProcessId process = trace.thread(made.thread).process;
    recorded_[index(process)] = true;
    graphs_[graph_key(process, made.graph)].made.push_back(row);
    if (made.node == 0) continue;
    graphs_[graph_key(process, graph_of(made.node))].children.push_back(
        {static_cast<uint32_t>(made.node), made.graph, made.origin == kBody});
  }
  for (auto& [key, graph] : graphs_) std::sort(graph.indices.begin(), graph.indices.end());
}

const GraphOrigins::Info* GraphOrigins::info(ProcessId process, uint32_t graph) const {
  const auto found = graphs_.find(graph_key(process, graph));
  return found == graphs_.end() ? nullptr : &found->second;
}

const GraphMade* GraphOrigins::contents(ProcessId process, uint32_t graph, int64_t time_ns) const {
  const Info* const known = info(process, graph);
  if (known == nullptr) return nullptr;
  const GraphMade* last = nullptr;
  for (const uint32_t row : known->made) {
    const GraphMade& made = trace_.graphs_made[row];
    if (made.from != 0 && (last == nullptr || made.time_ns <= time_ns)) last = &made;
  }
  return last;
}

uint32_t GraphOrigins::source(ProcessId process, uint32_t graph, int64_t time_ns) const {
  const GraphMade* const made = contents(process, graph, time_ns);
  return made == nullptr || made->renumbered ? 0 : made->from;
}

uint32_t GraphOrigins::made(ProcessId process, uint64_t node, int64_t time_ns) const {
  uint32_t graph = graph_of(node);
  for (int level = 0; level < kDeepest && graph != 0; ++level) {
    const auto found = nodes_.find({index(process), graph_node_id(graph, index_in_graph(node))});
    if (found != nodes_.end() && found->second.made != kNone) return found->second.made;
    graph = source(process, graph, time_ns);
  }
  return kNone;
}

// Whether the node is of the operation's kind and was created or changed to launch the operation's function.
bool GraphOrigins::fits(ProcessId process, uint64_t node, int64_t time_ns, uint32_t row,
                        const GpuOperation& operation) const {
  if (row == kNone || trace_.graph_nodes[row].type != node_type(operation)) return false;
  if (operation.kind() != GpuKind::Kernel) return true;
  const StringId name = trace_.kernels[operation.detail].name;
  bool any_known = false;
  uint32_t graph = graph_of(node);
  for (int level = 0; level < kDeepest && graph != 0; ++level) {
    const auto found = nodes_.find({index(process), graph_node_id(graph, index_in_graph(node))});
    if (found != nodes_.end()) {
      for (const uint32_t kernel : found->second.kernels) {
        if (trace_.kernels[kernel].name == name) return true;
        any_known = any_known || index(trace_.kernels[kernel].name) != 0;
      }
    }
    graph = source(process, graph, time_ns);
  }
  return !any_known || index(name) == 0;
}

// Visits the graphs inside the nodes of a graph, at every level. A copy has the child graphs of its original.
template <class Visit>
void GraphOrigins::each_inside(ProcessId process, uint32_t graph, int64_t time_ns, int level, Visit&& visit) const {
  for (int copies = 0; copies < kDeepest && graph != 0 && level < kDeepest; ++copies) {
    if (const Info* const known = info(process, graph)) {
      for (const Inside& child : known->children) {
        visit(child.graph);
        each_inside(process, child.graph, time_ns, level + 1, visit);
      }
    }
    graph = source(process, graph, time_ns);
  }
}

// Updates do not change which nodes are conditional, so the time does not matter.
bool GraphOrigins::has_bodies(ProcessId process, uint32_t graph, int level) const {
  for (int copies = 0; copies < kDeepest && graph != 0 && level < kDeepest; ++copies) {
    if (const Info* const known = info(process, graph)) {
      for (const Inside& child : known->children) {
        if (child.body || has_bodies(process, child.graph, level + 1)) return true;
      }
    }
    graph = source(process, graph, INT64_MAX);
  }
  return false;
}

uint32_t GraphOrigins::node_count(ProcessId process, uint32_t graph, int64_t time_ns) const {
  uint32_t count = 0;
  for (int copies = 0; copies < kDeepest && graph != 0; ++copies) {
    const Info* const known = info(process, graph);
    if (known != nullptr && !known->indices.empty()) count = std::max(count, known->indices.back() + 1);
    graph = source(process, graph, time_ns);
  }
  return count;
}

// Appends the nodes of the graphs inside `graph` in the order of their numbers. False: later numbers are unknown. A
// body begins empty, so all its nodes were recorded. A child graph without recorded nodes is a copy of one that was
// filled before the recording.
bool GraphOrigins::number_inside(ProcessId process, uint32_t graph, int64_t time_ns, int level,
                                 std::vector<uint64_t>& nodes) const {
  if (level == kDeepest) return false;
  std::vector<Inside> children;
  uint32_t from = graph;
  for (int copies = 0; copies < kDeepest && from != 0; ++copies) {
    if (const Info* const known = info(process, from))
      children.insert(children.end(), known->children.begin(), known->children.end());
    from = source(process, from, time_ns);
  }
  std::stable_sort(children.begin(), children.end(),
                   [](const Inside& a, const Inside& b) { return a.index < b.index; });
  for (const Inside& child : children) {
    const uint32_t count = node_count(process, child.graph, time_ns);
    if ((count == 0 && !child.body) || nodes.size() + count > kMostNumbered) return false;
    for (uint32_t i = 0; i < count; ++i) nodes.push_back(uint64_t{child.graph} << 32 | i);
    if (!number_inside(process, child.graph, time_ns, level + 1, nodes)) return false;
  }
  return true;
}

uint64_t GraphOrigins::node_inside(ProcessId process, uint32_t executable, uint32_t index, int64_t time_ns) const {
  const uint32_t top = source(process, executable, time_ns);
  const auto [found, added] = numbered_.try_emplace({graph_key(process, executable), top});
  std::vector<uint64_t>& nodes = found->second;
  if (added) {
    nodes.resize(node_count(process, executable, time_ns));  // their own indices: not looked up here
    number_inside(process, executable, time_ns, 0, nodes);
  }
  return index < nodes.size() ? nodes[index] : 0;
}

NodeOrigin GraphOrigins::reason(ProcessId process, uint32_t graph, int64_t time_ns) const {
  if (!recorded_[index(process)]) return NodeOrigin::NotRecorded;
  if (unidentified_[index(process)]) return NodeOrigin::Unknown;
  // Follows copies to the graph in which nodes were created. If its creation is not recorded, its nodes may be older
  // than the recording.
  for (int level = 0; level < kDeepest; ++level) {
    const Info* const known = info(process, graph);
    if (known == nullptr || known->made.empty()) return NodeOrigin::BeforeRecording;
    const uint32_t from = source(process, graph, time_ns);
    if (from == 0) return NodeOrigin::Unknown;
    graph = from;
  }
  return NodeOrigin::Unknown;
}

NodeFound GraphOrigins::search(ProcessId process, const GpuOperation& operation, uint32_t launched,
                               int64_t time_ns) const {
  const uint32_t graph = graph_of(operation.graph_node);
  const uint32_t row = made(process, operation.graph_node, time_ns);
  if (fits(process, operation.graph_node, time_ns, row, operation)) return {NodeOrigin::Known, row};
  const uint32_t top = launched != 0 ? launched : graph;
  if (row == kNone && graph == top) {
    const uint64_t node = node_inside(process, top, index_in_graph(operation.graph_node), time_ns);
    const uint32_t inside = node == 0 ? kNone : made(process, node, time_ns);
    if (node != 0 && fits(process, node, time_ns, inside, operation)) return {NodeOrigin::Known, inside};
  }
  if (row == kNone && graph != top) {  // a child graph may have a number of its own
    uint32_t only = kNone;
    bool several = false;
    each_inside(process, top, time_ns, 0, [&](uint32_t child) {
      const uint64_t node = graph_node_id(child, index_in_graph(operation.graph_node));
      const uint32_t inside = made(process, node, time_ns);
      if (inside == only || !fits(process, node, time_ns, inside, operation)) return;
      several = only != kNone;
      only = inside;
    });
    if (only != kNone && !several) return {NodeOrigin::Known, only};
    if (several) return {NodeOrigin::Unknown, kNone};
  }
  return {row != kNone ? NodeOrigin::Unknown : reason(process, top, time_ns), kNone};
}

NodeFound GraphOrigins::of(const GpuOperation& operation) const {
  if (operation.graph_node == 0) return {};
  if (operation.kind() == GpuKind::Graph) return {NodeOrigin::Whole, kNone};
  const ProcessId process = trace_.process_of(operation.stream());
  uint32_t launched = 0;
  int64_t time_ns = operation.start_ns;
  if (operation.linked()) {
    const HostEvent& launch = trace_.host[operation.launch];
    time_ns = launch.begin_ns;
    if (launch.kind() == HostKind::GraphLaunch) launched = trace_.graphs[launch.subject].number;
  }
  Memo memo{{index(process), operation.graph_node}, launched, operation.detail, 0};
  memo.source = source(process, launched != 0 ? launched : graph_of(operation.graph_node), time_ns);
  const auto [found, added] = found_.try_emplace(memo);
  if (added) found->second = search(process, operation, launched, time_ns);
  return found->second;
}

std::vector<uint32_t> GraphOrigins::nodes_of(ProcessId process, uint32_t graph, int64_t time_ns) const {
  std::vector<uint32_t> rows;
  const auto add = [&](uint32_t number) {
    for (int copies = 0; copies < kDeepest && number != 0; ++copies) {
      if (const Info* const known = info(process, number)) {
        for (const uint32_t node : known->indices)
          rows.push_back(made(process, uint64_t{number} << 32 | node, time_ns));
      }
      number = source(process, number, time_ns);
    }
  };
  add(graph);
  each_inside(process, graph, time_ns, 0, add);
  return rows;
}

}  // namespace prof::analyzer
