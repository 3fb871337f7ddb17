#include "analyzer/dependencies/dependency_graph.h"

#include "analyzer/base/front_heap.h"
#include "analyzer/dependencies/graph_sources.h"
#include "analyzer/dependencies/node_pool.h"
#include "analyzer/dependencies/recent_ends.h"
#include "analyzer/model/call_class.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace prof::analyzer {

namespace {

NodeKind node_kind(CallClass kind) {
  switch (kind) {
    case CallClass::KernelLaunch: return NodeKind::KernelCall;
    case CallClass::GraphLaunch: return NodeKind::GraphCall;
    case CallClass::MemoryLaunch: return NodeKind::MemoryCall;
    case CallClass::Synchronization: return NodeKind::SynchronizationCall;
    case CallClass::Allocation: return NodeKind::AllocationCall;
    case CallClass::Other: break;
  }
  return NodeKind::OtherCall;
}

NodeKind node_kind(const GpuOperation& operation) {
  if (operation.has_kernel()) return NodeKind::Kernel;
  return operation.kind() == GpuKind::Copy ? NodeKind::Copy : NodeKind::Fill;
}

// Order of nodes that become possible at the same moment.
enum class Rank : uint32_t { Entry = 0, Operation = 1, Return = 2 };

struct Head {
  int64_t time_ns;
  Rank rank;
  uint32_t source;  // threads, then streams
};
struct LaterHead {
  bool operator()(const Head& a, const Head& b) const {
    if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
    return a.rank != b.rank ? a.rank > b.rank : a.source > b.source;
  }
};

struct LaterEnd {
  bool operator()(const Running& a, const Running& b) const { return a.end_ns > b.end_ns; }
};

size_t events_in(const GraphSources& sources) {
  size_t events = 0;
  for (const ThreadNow& thread : sources.threads) events += thread.calls.size() + thread.moments.size();
  for (const StreamNow& stream : sources.streams) events += stream.operations.size();
  return events;
}

// Takes the calls of all threads and the operations of all streams in order of time, each list in its own order, and
// makes a node of each.
class GraphBuilder {
 public:
  GraphBuilder(DependencyGraph& graph, GraphSources& sources, GraphNodes& nodes)
      : trace_(graph.trace()),
        waits_(graph.dependencies()),
        calls_(graph.trace()),
        sources_(sources),
        nodes_(nodes),
        launches_(nodes, trace_.host.size()),
        operations_(nodes, waits_.of_calls.empty() && waits_.of_operations.empty() ? 0 : trace_.operations.size()),
        ends_(trace_, sources),
        on_gpu_(trace_.devices.size()),
        handoff_node_(waits_.handoffs.size()) {}

  void run() {
    count_expected();
    find_shortest_launches();
    find_queries();
    FrontHeap<Head, LaterHead> heap{LaterHead()};
    Head next;
    const auto threads = static_cast<uint32_t>(sources_.threads.size());
    for (uint32_t source = 0; source < threads + sources_.streams.size(); ++source) {
      if (head(source, next)) heap.push(next);
    }
    while (!heap.empty()) {
      const uint32_t source = heap.front().source;
      if (source < threads) {
        take_of_thread(sources_.threads[source]);
      } else {
        take_operation(sources_.streams[source - threads]);
      }
      if (head(source, next)) {
        heap.replace_front(next);
      } else {
        heap.pop();
      }
    }
    nodes_.finish();
  }

 private:
  void count_expected() {
    for (const StreamNow& stream : sources_.streams) {
      for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
        if (trace_.operations[row].linked()) launches_.expect(trace_.operations[row].launch);
      }
      for (const Wait* wait = stream.wait; !past(waits_.of_operations, wait, stream.operations.last); ++wait)
        operations_.expect(wait->operation);
    }
    for (const ThreadNow& thread : sources_.threads) {
      for (const Wait* wait = thread.wait; !past(waits_.of_calls, wait, thread.calls.last); ++wait)
        operations_.expect(wait->operation);
    }
  }

  void find_shortest_launches() {
    shortest_ns_.assign(trace_.apis.size(), std::numeric_limits<int64_t>::max());
    for (const HostEvent& event : trace_.host) {
      if (event.is_launch() && event.api() < shortest_ns_.size())
        shortest_ns_[event.api()] = std::min(shortest_ns_[event.api()], event.duration_ns());
    }
  }

  void find_queries() {
    for (const StringId name : trace_.apis) {
      const std::string_view api = trace_.text(name);
      polls_.push_back(api.find("EventQuery") != std::string_view::npos ||
                       api.find("StreamQuery") != std::string_view::npos);
    }
  }

  // Whether no wait of a row before `row` is left.
  static bool past(const std::vector<Wait>& waits, const Wait* wait, uint32_t row) {
    return wait == waits.data() + waits.size() || wait->waiter >= row;
  }

  // The next node of a thread or stream; false: there is none.
  bool head(uint32_t source, Head& head) const {
    head.source = source;
    if (source >= sources_.threads.size()) {
      const StreamNow& now = sources_.streams[source - sources_.threads.size()];
      if (now.operations.size() == 0) return false;
      head.time_ns = sources_.start_of(trace_.operations[now.operations.first]);
      head.rank = Rank::Operation;
      return true;
    }
    const ThreadNow& now = sources_.threads[source];
    head.rank = now.inside ? Rank::Return : Rank::Entry;
    if (now.inside) {
      head.time_ns = now.return_ns;
      return true;
    }
    if (now.calls.size() == 0 && now.moments.empty()) return false;
    head.time_ns = INT64_MAX;
    if (now.calls.size() != 0) head.time_ns = sources_.begin_of(trace_.host[now.calls.first]);
    if (!now.moments.empty()) head.time_ns = std::min(head.time_ns, now.moments.back().time_ns);
    head.time_ns = std::max(head.time_ns, nodes_.end_ns(now.last));
    return true;
  }

  void take_of_thread(ThreadNow& now) {
    if (now.inside) return leave_call(now);
    const int64_t call_ns = now.calls.size() == 0 ? INT64_MAX : sources_.begin_of(trace_.host[now.calls.first]);
    if (!now.moments.empty() && now.moments.back().time_ns <= call_ns) return take_moment(now);
    enter_call(now);
  }

  // Replaces the last node of a thread or stream, and its reference.
  void go_on(uint32_t& last, uint32_t slot) { nodes_.release(std::exchange(last, slot)); }

  void take_moment(ThreadNow& now) {
    const Moment moment = now.moments.back();
    now.moments.pop_back();
    NewNode node{NodeKind::Point, now.thread};
    node.before = now.last;
    node.end_ns = std::max(moment.time_ns, nodes_.end_ns(now.last));
    node.after_before = node.end_ns - nodes_.end_ns(now.last);
    if (!std::exchange(now.known, true)) node.flags |= kNodeUnexplained;
    if (gap_may_wait(nodes_.end_ns(now.last), node.end_ns)) node.flags |= kNodeStartAssumed;
    uint32_t other = 0;
    if (moment.receives != 0) {
      other = std::exchange(handoff_node_[moment.handoff], 0);
      if (other != 0 && nodes_.end_ns(other) <= node.end_ns) {
        node.other = other;
        node.after_other = node.end_ns - nodes_.end_ns(other);
        node.after_before = 0;
        node.flags = kNodeBoundByOther;
      }
    }
    go_on(now.last, nodes_.add(node));
    nodes_.release(other);
    if (moment.handoff == kNone || moment.receives != 0) return;
    nodes_.hold(now.last);
    handoff_node_[moment.handoff] = now.last;
  }

  // The outermost call at the front and the calls inside it.
  Rows outermost(const ThreadNow& now, CallTraits& traits) const {
    Rows rows{now.calls.first, now.calls.first + 1};
    const int64_t end_ns = sources_.end_of(trace_.host[rows.first]);
    traits = calls_.of(trace_.host[rows.first]);
    while (rows.last < now.calls.last) {
      const HostEvent& event = trace_.host[rows.last];
      if (sources_.begin_of(event) >= end_ns || sources_.end_of(event) > end_ns) break;
      if (traits.kind == CallClass::Other) traits = calls_.of(event);
      ++rows.last;
    }
    return rows;
  }

  void enter_call(ThreadNow& now) {
    CallTraits traits;
    const Rows rows = outermost(now, traits);
    now.calls.first = rows.last;
    const HostEvent& event = trace_.host[rows.first];
    NewNode node{node_kind(traits.kind), rows.first};
    node.subject = node.kind == NodeKind::KernelCall && event.kind() == HostKind::KernelLaunch
                       ? static_cast<uint32_t>(event.subject)
                       : event.api();
    if (node.kind == NodeKind::KernelCall && event.kind() != HostKind::KernelLaunch) node.subject = 0;
    const int64_t before_ns = nodes_.end_ns(now.last), begin_ns = std::max(sources_.begin_of(event), before_ns);
    node.end_ns = std::max(sources_.end_of(event), begin_ns);
    node.before = now.last;
    node.after_before = begin_ns - before_ns;
    if (!std::exchange(now.known, true)) node.flags |= kNodeUnexplained;
    const bool again = polls_again(now, event);
    if (again || gap_may_wait(before_ns, begin_ns)) node.flags |= kNodeStartAssumed;
    ends_.add_call(node.end_ns);
    for (; !past(waits_.of_calls, now.wait, rows.first); ++now.wait)
      nodes_.release(operations_.take(now.wait->operation));
    if (!past(waits_.of_calls, now.wait, rows.last)) {
      now.inside = true;
      now.call = rows;
      now.return_ns = node.end_ns;
      node.end_ns = begin_ns;
    } else if (again || (may_block(event, traits) && ends_.operation_ends(begin_ns, node.end_ns - 1))) {
      node.flags |= kNodeTimeAssumed;
    }
    node.own = node.end_ns - begin_ns;
    go_on(now.last, nodes_.add(node));
    for (uint32_t row = rows.first; row < rows.last; ++row) launches_.arrive(row, now.last);
  }

  // Whether a thread may have waited between its calls: for another thread or process that finished something, or for
  // the GPU, in a call that is not recorded or by reading memory that the GPU writes.
  bool gap_may_wait(int64_t begin_ns, int64_t end_ns) {
    return ends_.host_ended(begin_ns, end_ns) || ends_.operation_ended(begin_ns, end_ns);
  }

  // Whether the call repeats a query that found an operation incomplete: without the operation's time it would not be
  // made. Other tools' traces do not have the answer of a query.
  bool polls_again(ThreadNow& now, const HostEvent& event) const {
    const bool polls = event.api() < polls_.size() && polls_[event.api()];
    const bool incomplete = polls && (event.result() != 0 || !trace_.process_of(event).is_prof_log());
    return std::exchange(now.polls, incomplete) && polls;
  }

  // Whether a call may wait for the GPU. The shortest launch of its name returned at once.
  bool may_block(const HostEvent& event, const CallTraits& traits) const {
    if (traits.kind != CallClass::KernelLaunch && traits.kind != CallClass::GraphLaunch) return true;
    return event.api() < shortest_ns_.size() && event.duration_ns() > shortest_ns_[event.api()];
  }

  void leave_call(ThreadNow& now) {
    now.inside = false;
    uint32_t awaited = 0;
    for (; !past(waits_.of_calls, now.wait, now.call.last); ++now.wait) {
      const uint32_t operation = operations_.take(now.wait->operation);
      if (operation != 0 && nodes_.end_ns(operation) <= now.return_ns) awaited = nodes_.join(awaited, operation);
      nodes_.release(operation);
    }
    const Node entry = nodes_.node(now.last);
    NewNode node{entry.kind(), entry.row, entry.subject(), kNodeReturns};
    node.before = now.last;
    node.other = awaited;
    const int64_t before_ns = nodes_.end_ns(now.last), awaited_ns = nodes_.end_ns(awaited);
    if (awaited != 0 && awaited_ns > before_ns) node.flags |= kNodeBoundByOther;
    node.end_ns = now.return_ns;
    node.own = now.return_ns - std::max(before_ns, awaited_ns);
    if (ends_.operation_ended(node.end_ns - node.own, now.return_ns)) node.flags |= kNodeTimeAssumed;
    const uint32_t returned = nodes_.add(node);
    nodes_.set_returned(now.last, returned);
    go_on(now.last, returned);
    nodes_.release(awaited);
  }

  // Operations of the stream that had ended by that moment precede what comes next.
  void settle(StreamNow& now, int64_t time_ns) {
    while (!now.running.empty() && now.running.front().end_ns <= time_ns) {
      std::pop_heap(now.running.begin(), now.running.end(), LaterEnd());
      const Running ended = now.running.back();
      now.running.pop_back();
      if (ended.preceding == nodes_[now.last].node) {
        go_on(now.last, ended.slot);
      } else {
        now.last = nodes_.join(now.last, ended.slot);
        nodes_.release(ended.slot);
      }
    }
  }

  // The node of the launch that the operation follows: the return of the call if it had returned by then, else its
  // entry.
  uint32_t reached(uint32_t launch, int64_t start_ns) const {
    if (launch == 0) return 0;
    const uint32_t returned = nodes_[launch].returned;
    if (returned != 0 && nodes_.end_ns(returned) <= start_ns) launch = returned;
    return nodes_[launch].start_ns <= start_ns ? launch : 0;
  }

  void take_operation(StreamNow& now) {
    const uint32_t row = now.operations.first++;
    const GpuOperation& operation = trace_.operations[row];
    const int64_t start_ns = sources_.start_of(operation);
    settle(now, start_ns);
    for (; !past(waits_.of_operations, now.wait, row + 1); ++now.wait) {
      const uint32_t awaited = operations_.take(now.wait->operation);
      if (now.wait->waiter == row && awaited != 0 && nodes_.end_ns(awaited) <= start_ns)
        now.last = nodes_.join(now.last, awaited, now.wait->legacy != 0 ? kLegacyJoin : 0);
      nodes_.release(awaited);
    }
    NewNode node{node_kind(operation), row, subject_of(operation)};
    node.end_ns = sources_.end_of(operation);
    node.own = node.end_ns - start_ns;
    node.before = now.last;
    // Overlap within a stream: a kernel with programmatic dependent launch, or branches of one graph.
    if (now.latest != 0 && nodes_.end_ns(now.latest) > start_ns &&
        !same_graph_launch(operation, nodes_.node(now.latest).row))
      node.before = now.latest;
    const uint32_t launch = operation.linked() ? launches_.take(operation.launch) : 0;
    if (operation.is_migration()) node.before = 0;
    bind(node, reached(launch, start_ns), start_ns);
    const StreamId stream = operation.stream();
    const int64_t bound_ns = start_ns - (node.bound_by_other() ? node.after_other : node.after_before);
    OnGpu& gpu = on_gpu_[trace_.device(trace_.stream(stream).device).physical % on_gpu_.size()];
    // While others run on its GPU, a kernel may have to wait for their resources.
    const bool crowded = operation.has_kernel() && gpu.until_ns > bound_ns && start_ns > bound_ns;
    if (launch != 0 && (ends_.operation_ended(bound_ns, start_ns) || crowded ||
                        std::binary_search(waits_.unknown_operations.begin(), waits_.unknown_operations.end(), row)))
      node.flags |= kNodeStartAssumed;
    if (operation.has_kernel() && node.subject < waits_.communication.size() && waits_.communication[node.subject])
      node.flags |= kNodeTimeAssumed;  // it may wait for other GPUs
    const uint32_t slot = nodes_.add(node);
    if (operation.has_kernel()) share(gpu, nodes_[slot].node, start_ns, node.end_ns);
    if (!waits_.of_calls.empty() || !waits_.of_operations.empty()) operations_.arrive(row, slot);
    nodes_.release(launch);
    if (operation.is_migration()) return nodes_.release(slot);
    now.running.push_back({node.end_ns, slot, nodes_[node.before].node});
    std::push_heap(now.running.begin(), now.running.end(), LaterEnd());
    nodes_.hold(slot);
    go_on(now.latest, slot);
  }

  // Either the stream or the launch bound the operation, whichever was later. Its edge has the measured time; the other
  // edge has none.
  void bind(NewNode& node, uint32_t launch, int64_t start_ns) const {
    const int64_t since_before = start_ns - nodes_.end_ns(node.before);
    node.other = launch;
    if (launch == 0) {
      node.after_before = since_before;
      node.flags |= kNodeUnexplained;
      return;
    }
    const int64_t since_launch = start_ns - nodes_.end_ns(launch);
    if (node.before == 0 || since_launch < since_before) {
      node.flags |= kNodeBoundByOther;
      node.after_other = since_launch;
      node.after_before = std::min<int64_t>(since_before, 0);
    } else {
      node.after_before = since_before;
      node.after_other = std::min<int64_t>(since_launch, 0);
    }
  }

  // The kernels of a GPU.
  struct OnGpu {
    int64_t until_ns = std::numeric_limits<int64_t>::min();  // the latest end so far
    uint32_t alone = 0;  // node of the kernel that ran beside no other so far; 0: none
    int64_t alone_until_ns = 0;
  };

  // Kernels that run beside others of their GPU may be slower than without them, so their time is not certain.
  void share(OnGpu& gpu, uint32_t id, int64_t start_ns, int64_t end_ns) {
    if (end_ns <= start_ns) return;
    if (gpu.until_ns > start_ns) {
      if (gpu.alone != 0 && gpu.alone_until_ns > start_ns) nodes_.add_flag(gpu.alone, kNodeTimeAssumed);
      nodes_.add_flag(id, kNodeTimeAssumed);
      nodes_.add_shared(std::min(gpu.until_ns, end_ns) - start_ns);
      gpu.alone = 0;
    } else {
      gpu.alone = id;
      gpu.alone_until_ns = end_ns;
    }
    gpu.until_ns = std::max(gpu.until_ns, end_ns);
  }

  bool same_graph_launch(const GpuOperation& a, uint32_t row_b) const {
    const GpuOperation& b = trace_.operations[row_b];
    return a.graph_node != 0 && b.graph_node != 0 && a.launch == b.launch && a.correlation == b.correlation;
  }

  uint32_t subject_of(const GpuOperation& operation) const {
    if (!operation.has_kernel() || !operation.linked()) return operation.detail;
    const bool named = operation.detail < trace_.kernels.size() && index(trace_.kernels[operation.detail].name) != 0;
    const HostEvent& launch = trace_.host[operation.launch];
    return named || launch.kind() != HostKind::KernelLaunch ? operation.detail : static_cast<uint32_t>(launch.subject);
  }

  const Trace& trace_;
  const Dependencies& waits_;
  CallTable calls_;
  GraphSources& sources_;
  GraphNodes& nodes_;
  ExpectedNodes launches_;    // by row of Trace::host, for their operations
  ExpectedNodes operations_;  // by row of Trace::operations, for what waits for them
  RecentEnds ends_;
  std::vector<int64_t> shortest_ns_;    // by api: the shortest launch
  std::vector<bool> polls_;             // by api: queries whether an event or a stream is complete
  std::vector<OnGpu> on_gpu_;           // by physical GPU
  std::vector<uint32_t> handoff_node_;  // slots, each with a reference; 0: not reached yet
};

}  // namespace

DependencyGraph::DependencyGraph(const Trace& trace, const Dependencies& dependencies, int64_t begin_ns, int64_t end_ns)
    : trace_(trace), dependencies_(dependencies), begin_ns_(sane(begin_ns)) {
  GraphSources sources(trace, dependencies, begin_ns_, std::max(sane(end_ns), begin_ns_));
  GraphNodes nodes(*this, events_in(sources));
  GraphBuilder(*this, sources, nodes).run();
}

}  // namespace prof::analyzer
