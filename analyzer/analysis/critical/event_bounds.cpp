#include "analyzer/analysis/critical/event_bounds.h"

#include "analyzer/analysis/critical/run_graph.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

constexpr int64_t kLongestBound = int64_t{1} << 56;

bool is_event(const Node& node) { return node.kind() != NodeKind::Point && node.kind() != NodeKind::Join; }
bool is_operation(const Node& node) { return (kind_bit(node.kind()) & kOperationNodes) != 0; }

// Whether the time is the thread's own: not a wait for another thread or the GPU, and not unexplained.
bool is_host_time(const Node& node) {
  return !is_operation(node) && node.kind() != NodeKind::Join && !node.has(kNodeUnexplained) &&
         (!node.has(kNodeBoundByOther) || node.has(kNodeReturns));
}

}  // namespace

EventBounds::EventBounds(const Trace& trace) : trace_(trace) {
  const Interval span = launched_span(trace);
  if (span.end_ns <= span.begin_ns) return;
  calls_.resize(trace.host.size());
  operations_.resize(trace.operations.size());
  const Dependencies dependencies(trace);
  const DependencyGraph graph(trace, dependencies, span.begin_ns, span.end_ns);
  add_nodes(graph);
  add_path(graph);
  add_calls_inside();
  add_dependencies(dependencies);
}

// `bound`: the node that bounds this node. If that is a join, the node that bounds the join. 0: the start of the
// window.
BoundBy EventBounds::bound_of(const DependencyGraph& graph, uint32_t id, uint32_t bound) const {
  const Node& node = graph.nodes()[id];
  if (node.has(kNodeUnexplained)) return BoundBy::Unexplained;
  if (is_operation(node)) {
    if (node.has(kNodeBoundByOther)) return BoundBy::Launch;
    const Node& before = graph.nodes()[bound];
    const bool other = bound != 0 && is_operation(before) &&
                       trace_.operations[before.row].stream() != trace_.operations[node.row].stream();
    return other ? BoundBy::OtherStream : BoundBy::Stream;
  }
  if (node.has(kNodeReturns) && node.has(kNodeBoundByOther)) {
    const std::vector<uint32_t>& full = graph.dependencies().blocked_launches;
    return std::binary_search(full.begin(), full.end(), node.row) ? BoundBy::QueueFull : BoundBy::Gpu;
  }
  const Node& before = graph.nodes()[bound];
  return before.kind() == NodeKind::Point && before.has(kNodeBoundByOther) ? BoundBy::OtherThread : BoundBy::Host;
}

void EventBounds::add_nodes(const DependencyGraph& graph) {
  const Column<int64_t> slack = Replay(graph).slacks();
  const Column<uint32_t> bound_by = Replay(graph).bound_by();
  Column<uint32_t> source;  // of a join the node that bounds it; of another node itself
  source.resize(graph.nodes().size());
  for (uint32_t id = 1; id < graph.nodes().size(); ++id) {
    const Node& node = graph.nodes()[id];
    source[id] = node.kind() != NodeKind::Join ? id : source[bound_by[id]];
    if (!is_event(node)) continue;
    EventBound bound{bound_of(graph, id, source[bound_by[id]]), false, true, std::min(slack[id], kLongestBound)};
    int64_t& row = is_operation(node) ? operations_[node.row] : calls_[node.row];
    // A call that waited for nothing has the bound of its entry.
    if (node.has(kNodeReturns) && !node.has(kNodeBoundByOther)) bound.by = unpack(calls_, node.row).by;
    row = pack(bound);
  }
}

void EventBounds::add_path(const DependencyGraph& graph) {
  std::vector<std::vector<Interval>> of_thread(trace_.threads.size());
  EventRef last;
  uint64_t last_track = UINT64_MAX;
  for (const PathStep& step : Replay(graph).critical_path()) {
    const Node& node = graph.nodes()[step.node];
    const bool operation = is_operation(node);
    if (node.kind() == NodeKind::Join) continue;
    const uint32_t thread = operation                        ? kNone
                            : node.kind() == NodeKind::Point ? node.row
                                                             : index(trace_.host[node.row].thread);
    if (!operation) {
      const int64_t from = is_host_time(node) ? step.begin_ns : step.start_ns;
      of_thread[thread].push_back({std::min(from, step.start_ns), step.end_ns});
    }
    if (node.kind() == NodeKind::Point) continue;
    int64_t& row = operation ? operations_[node.row] : calls_[node.row];
    EventBound bound = unpack(operation ? operations_ : calls_, node.row);
    bound.time_ns = std::min((bound.critical ? bound.time_ns : 0) + step.end_ns - step.start_ns, kLongestBound);
    bound.critical = true;
    row = pack(bound);
    const uint64_t track = operation ? uint64_t{1} << 32 | index(trace_.operations[node.row].stream()) : thread;
    const EventRef event{!operation, node.row};
    if (track != last_track && last_track != UINT64_MAX) path_links_.push_back({last, event});
    last = event;
    last_track = track;
  }
  for (std::vector<Interval>& parts : of_thread) of_thread_.emplace_back(std::move(parts));
}

// A call inside another call has the bound of the outer call.
void EventBounds::add_calls_inside() {
  for (const Thread& thread : trace_.threads) {
    uint32_t outer = kNone;
    for (uint32_t row = thread.host.first; row < thread.host.last; ++row) {
      if (calls_[row] != 0) {
        outer = row;
      } else if (outer != kNone && trace_.host[row].begin_ns < trace_.host[outer].end_ns &&
                 trace_.host[row].end_ns <= trace_.host[outer].end_ns) {
        calls_[row] = pack({of_call(outer).by, false, false, 0});
      }
    }
  }
}

void EventBounds::add_dependencies(const Dependencies& dependencies) {
  for (const Wait& wait : dependencies.of_operations) {
    if (wait.legacy == 0) dependencies_.push_back({{false, wait.operation}, {false, wait.waiter}});
  }
  for (const Wait& wait : dependencies.of_calls) {
    if (trace_.operations[wait.operation].end_ns > trace_.host[wait.waiter].begin_ns)
      dependencies_.push_back({{false, wait.operation}, {true, wait.waiter}});
  }
}

}  // namespace prof::analyzer
