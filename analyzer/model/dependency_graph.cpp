#include "analyzer/model/dependency_graph.h"

#include "analyzer/model/call_class.h"

#include <algorithm>
#include <utility>

namespace prof::analyzer {

namespace {

// Times of no meaning stay where sums of a few of them still fit.
constexpr int64_t kFarthest = int64_t{1} << 60;
int64_t sane(int64_t time_ns) { return std::clamp(time_ns, -kFarthest, kFarthest); }

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

// Nodes that become possible at the same moment come in this order.
enum class Rank : uint32_t { Entry = 0, Operation = 1, Return = 2 };

}  // namespace

// Takes calls of all threads and operations of all streams in order of time, each list in its own order, and makes a node
// of each. While it runs, edges name nodes by number; node 0 is the window's begin.
class GraphBuilder {
 public:
  explicit GraphBuilder(DependencyGraph& graph)
      : graph_(graph),
        trace_(graph.trace_),
        waits_(graph.dependencies_),
        begin_ns_(graph.begin_ns_),
        end_ns_(graph.end_ns_),
        calls_(graph.trace_) {}

  void run() {
    graph_.nodes_.push_back({});
    graph_.bound_by_.push_back(kNone);
    end_.push_back(begin_ns_);
    node_of_call_.resize(trace_.host.size());
    node_of_operation_.resize(trace_.operations.size());
    handoff_node_.assign(waits_.handoffs.size(), 0);
    handed_.resize(trace_.threads.size());
    for (uint32_t h = 0; h < waits_.handoffs.size(); ++h) {
      const Handoff& handoff = waits_.handoffs[h];
      handed_[index(handoff.from)].push_back({sane(handoff.from_ns), h, 0});
      handed_[index(handoff.to)].push_back({sane(handoff.to_ns), h, 1});
    }
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) open_thread(t);
    for (uint32_t s = 0; s < trace_.streams.size(); ++s) open_stream(s);
    merge();
    find_last();
    assign_slots();
  }

 private:
  struct Moment {
    int64_t time_ns;
    uint32_t handoff;   // kNone: the thread's first or last moment
    uint32_t receives;  // 1: waits for another thread
  };
  // A host thread: its calls, of calls inside each other the outermost, and its moments.
  struct ThreadNow {
    uint32_t thread;
    Rows calls;                   // not yet taken
    std::vector<Moment> moments;  // not yet taken, the next one last
    const Wait* wait;             // first wait of its calls that are not yet taken
    uint32_t last = 0;            // node
    bool known = false;           // it did something before
    // A call that has been entered and waits.
    bool inside = false;
    Rows call;
    int64_t return_ns = 0;
  };
  struct Running {
    int64_t end_ns;
    uint32_t node;
    uint32_t behind;  // the stream's last when it started
  };
  struct StreamNow {
    Rows operations;  // not yet taken
    const Wait* wait;
    uint32_t last = 0;             // node after which all that has ended had ended
    uint32_t latest = 0;           // operation taken last
    std::vector<Running> running;  // a heap, the earliest end in front
  };
  struct Head {
    int64_t time_ns;
    Rank rank;
    uint32_t source;  // threads_, then streams_
  };

  int64_t inside_window(int64_t time_ns) const { return std::clamp(sane(time_ns), begin_ns_, end_ns_); }
  int64_t begin_of(const HostEvent& event) const { return inside_window(event.begin_ns); }
  int64_t end_of(const HostEvent& event) const { return inside_window(std::max(event.begin_ns, event.end_ns)); }
  int64_t start_of(const GpuOperation& operation) const { return inside_window(operation.start_ns); }
  int64_t end_of(const GpuOperation& operation) const {
    return inside_window(std::max(operation.start_ns, operation.end_ns));
  }

  // Rows whose [begin, end) meets the window; `reach` rows before the first that begins in it are looked at.
  template <class Begin, class End> Rows in_window(Rows rows, Begin begin, End end) const {
    const auto first_from = [&](int64_t time_ns) {
      uint32_t low = rows.first, high = rows.last;
      while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        begin(middle) < time_ns ? low = middle + 1 : high = middle;
      }
      return low;
    };
    constexpr uint32_t kReach = 64;
    Rows found{first_from(begin_ns_), first_from(end_ns_)};
    for (uint32_t row = found.first; row > rows.first && found.first - row < kReach;) {
      --row;
      if (end(row) > begin_ns_) found.first = row;
    }
    return found;
  }

  void open_thread(uint32_t t) {
    const Thread& thread = trace_.threads[t];
    ThreadNow now;
    now.thread = t;
    now.calls = in_window(
        thread.host, [&](uint32_t row) { return sane(trace_.host[row].begin_ns); },
        [&](uint32_t row) { return sane(trace_.host[row].end_ns); });
    int64_t first_ns = kFarthest, last_ns = -kFarthest;
    for (uint32_t row = thread.ranges.first; row < thread.ranges.last; ++row) {
      const Range& range = trace_.ranges[row];
      if (range.kind == RangeKind::Overhead) continue;
      first_ns = std::min(first_ns, sane(range.begin_ns));
      last_ns = std::max(last_ns, sane(range.end_ns));
    }
    if (thread.host.size() != 0) first_ns = std::min(first_ns, sane(trace_.host[thread.host.first].begin_ns));
    now.known = first_ns < begin_ns_;
    now.moments = handed_[t];
    if (first_ns < last_ns) {
      now.moments.push_back({first_ns, kNone, 0});
      // Before a call it would only cut the work in front of the call in two.
      const bool calls_follow = now.calls.size() != 0 && sane(trace_.host[now.calls.last - 1].begin_ns) >= last_ns;
      if (!calls_follow) now.moments.push_back({last_ns, kNone, 0});
    }
    std::erase_if(now.moments, [&](const Moment& m) { return m.time_ns < begin_ns_ || m.time_ns > end_ns_; });
    std::sort(now.moments.begin(), now.moments.end(), [](const Moment& x, const Moment& y) {
      return x.time_ns != y.time_ns ? x.time_ns > y.time_ns : x.receives < y.receives;
    });
    now.wait = first_wait(waits_.of_calls, now.calls.first);
    threads_.push_back(std::move(now));
  }

  void open_stream(uint32_t s) {
    StreamNow now;
    now.operations = in_window(
        trace_.streams[s].operations, [&](uint32_t row) { return sane(trace_.operations[row].start_ns); },
        [&](uint32_t row) { return sane(trace_.operations[row].end_ns); });
    now.wait = first_wait(waits_.of_operations, now.operations.first);
    streams_.push_back(std::move(now));
  }

  static const Wait* first_wait(const std::vector<Wait>& waits, uint32_t row) {
    return waits.data() + (std::lower_bound(waits.begin(), waits.end(), row,
                                            [](const Wait& wait, uint32_t r) { return wait.waiter < r; }) -
                           waits.begin());
  }

  // The next node of a thread or stream; false: no more.
  bool head(uint32_t source, Head& head) const {
    head.source = source;
    if (source >= threads_.size()) {
      const StreamNow& now = streams_[source - threads_.size()];
      if (now.operations.size() == 0) return false;
      head.time_ns = start_of(trace_.operations[now.operations.first]);
      head.rank = Rank::Operation;
      return true;
    }
    const ThreadNow& now = threads_[source];
    head.rank = now.inside ? Rank::Return : Rank::Entry;
    if (now.inside) {
      head.time_ns = now.return_ns;
      return true;
    }
    if (now.calls.size() == 0 && now.moments.empty()) return false;
    head.time_ns = INT64_MAX;
    if (now.calls.size() != 0) head.time_ns = begin_of(trace_.host[now.calls.first]);
    if (!now.moments.empty()) head.time_ns = std::min(head.time_ns, now.moments.back().time_ns);
    head.time_ns = std::max(head.time_ns, end_[now.last]);
    return true;
  }

  void merge() {
    std::vector<Head> heap;
    const auto later = [](const Head& a, const Head& b) {
      if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
      return a.rank != b.rank ? a.rank > b.rank : a.source > b.source;
    };
    Head next;
    for (uint32_t source = 0; source < threads_.size() + streams_.size(); ++source) {
      if (head(source, next)) heap.push_back(next);
    }
    std::make_heap(heap.begin(), heap.end(), later);
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      next = heap.back();
      heap.pop_back();
      // Most sources have several nodes before the next source has one.
      for (bool more = true; more;) {
        const uint32_t source = next.source;
        if (source < threads_.size()) {
          take_of_thread(threads_[source]);
        } else {
          take_operation(streams_[source - threads_.size()]);
        }
        if (!head(source, next)) break;
        more = heap.empty() || !later(next, heap.front());
        if (more) continue;
        heap.push_back(next);
        std::push_heap(heap.begin(), heap.end(), later);
      }
    }
  }

  int32_t pack(int64_t time_ns) {
    if (time_ns > DependencyGraph::kAside && time_ns <= INT32_MAX) return static_cast<int32_t>(time_ns);
    graph_.aside_.push_back(time_ns);
    return static_cast<int32_t>(INT32_MIN + static_cast<int64_t>(graph_.aside_.size() - 1));
  }

  struct NewNode {
    NodeKind kind;
    uint32_t row;
    uint32_t subject = 0;
    uint32_t flags = 0;
    uint32_t before = 0, other = 0;
    int64_t after_before = 0, after_other = 0;
    int64_t end_ns = 0, own = 0;
  };
  uint32_t add(const NewNode& from) {
    Node node;
    node.row = from.row;
    node.before = from.before;
    node.other = from.other;
    node.after_before = pack(from.after_before);
    node.after_other = pack(from.after_other);
    node.own = pack(from.own);
    node.word = static_cast<uint32_t>(from.kind) | from.flags << 4 | std::min(from.subject, Node::kSubjects - 1) << 8;
    const auto id = static_cast<uint32_t>(graph_.nodes_.size());
    graph_.nodes_.push_back(node);
    const uint32_t bound = (from.flags & kNodeBoundByOther) != 0 ? from.other : from.before;
    graph_.bound_by_.push_back(bound == 0 ? kNone : bound);
    end_.push_back(from.end_ns);
    return id;
  }

  // When both have ended. Node 0 (nothing) is neutral.
  uint32_t join(uint32_t a, uint32_t b, uint32_t row = 0) {
    if (a == 0 || a == b) return b;
    if (b == 0) return a;
    NewNode node{NodeKind::Join, row};
    node.before = a, node.other = b;
    node.end_ns = std::max(end_[a], end_[b]);
    if (end_[b] > end_[a]) node.flags = kNodeBoundByOther;
    return add(node);
  }

  void take_of_thread(ThreadNow& now) {
    if (now.inside) return leave_call(now);
    const int64_t call_ns = now.calls.size() == 0 ? INT64_MAX : begin_of(trace_.host[now.calls.first]);
    if (!now.moments.empty() && now.moments.back().time_ns <= call_ns) return take_moment(now);
    enter_call(now);
  }

  void take_moment(ThreadNow& now) {
    const Moment moment = now.moments.back();
    now.moments.pop_back();
    NewNode node{NodeKind::Point, now.thread};
    node.before = now.last;
    node.end_ns = std::max(moment.time_ns, end_[now.last]);
    node.after_before = node.end_ns - end_[now.last];
    if (!std::exchange(now.known, true)) node.flags |= kNodeUnexplained;
    if (moment.receives != 0) {
      const uint32_t other = handoff_node_[moment.handoff];
      if (other != 0 && end_[other] <= node.end_ns) {
        node.other = other;
        node.after_other = node.end_ns - end_[other];
        node.after_before = 0;
        node.flags = kNodeBoundByOther;
      }
    }
    now.last = add(node);
    if (moment.handoff != kNone && moment.receives == 0) handoff_node_[moment.handoff] = now.last;
  }

  // The outermost call at the front and those inside it.
  Rows outermost(const ThreadNow& now, CallTraits& traits) const {
    Rows rows{now.calls.first, now.calls.first + 1};
    const int64_t end_ns = end_of(trace_.host[rows.first]);
    traits = calls_.of(trace_.host[rows.first]);
    while (rows.last < now.calls.last) {
      const HostEvent& event = trace_.host[rows.last];
      if (begin_of(event) >= end_ns || end_of(event) > end_ns) break;
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
    const int64_t begin_ns = std::max(begin_of(event), end_[now.last]);
    node.end_ns = std::max(end_of(event), begin_ns);
    node.before = now.last;
    node.after_before = begin_ns - end_[now.last];
    if (!std::exchange(now.known, true)) node.flags |= kNodeUnexplained;
    while (!past_waits(now.wait) && now.wait->waiter < rows.first) ++now.wait;
    if (!past_waits(now.wait) && now.wait->waiter < rows.last) {
      now.inside = true;
      now.call = rows;
      now.return_ns = node.end_ns;
      node.end_ns = begin_ns;
    }
    node.own = node.end_ns - begin_ns;
    now.last = add(node);
    for (uint32_t row = rows.first; row < rows.last; ++row) node_of_call_[row] = now.last;
  }

  bool past_waits(const Wait* wait) const { return wait == waits_.of_calls.data() + waits_.of_calls.size(); }

  void leave_call(ThreadNow& now) {
    now.inside = false;
    uint32_t awaited = 0;
    for (; !past_waits(now.wait) && now.wait->waiter < now.call.last; ++now.wait) {
      const uint32_t operation = node_of_operation_[now.wait->operation];
      if (operation != 0 && end_[operation] <= now.return_ns) awaited = join(awaited, operation);
    }
    const Node& entry = graph_.nodes_[now.last];
    NewNode node{entry.kind(), entry.row, entry.subject(), kNodeReturns};
    node.before = now.last;
    node.other = awaited;
    if (awaited != 0 && end_[awaited] > end_[now.last]) node.flags |= kNodeBoundByOther;
    node.end_ns = now.return_ns;
    node.own = now.return_ns - std::max(end_[now.last], end_[awaited]);
    now.last = add(node);
    for (uint32_t row = now.call.first; row < now.call.last; ++row) node_of_call_[row] = now.last;
  }

  // Everything of the stream that had ended at that moment goes before what comes.
  void settle(StreamNow& now, int64_t time_ns) {
    const auto later = [](const Running& a, const Running& b) { return a.end_ns > b.end_ns; };
    while (!now.running.empty() && now.running.front().end_ns <= time_ns) {
      std::pop_heap(now.running.begin(), now.running.end(), later);
      const Running ended = now.running.back();
      now.running.pop_back();
      now.last = ended.behind == now.last ? ended.node : join(now.last, ended.node);
    }
  }

  // The node a launch had reached when its operation started: its return if it had returned by then.
  uint32_t launch_node(const GpuOperation& operation, int64_t start_ns) const {
    if (!operation.linked()) return 0;
    uint32_t node = node_of_call_[operation.launch];
    if (node == 0) return 0;
    const Node& call = graph_.nodes_[node];
    if (call.has(kNodeReturns) && end_[node] > start_ns) node = call.before;
    return end_[node] - graph_.time(graph_.nodes_[node].own) <= start_ns ? node : 0;
  }

  void take_operation(StreamNow& now) {
    const uint32_t row = now.operations.first++;
    const GpuOperation& operation = trace_.operations[row];
    const int64_t start_ns = start_of(operation);
    settle(now, start_ns);
    for (; now.wait != waits_.of_operations.data() + waits_.of_operations.size() && now.wait->waiter <= row;
         ++now.wait) {
      const uint32_t awaited = now.wait->waiter == row ? node_of_operation_[now.wait->operation] : 0;
      if (awaited != 0 && end_[awaited] <= start_ns)
        now.last = join(now.last, awaited, now.wait->legacy != 0 ? kLegacyJoin : 0);
    }
    NewNode node{operation.has_kernel()              ? NodeKind::Kernel
                 : operation.kind() == GpuKind::Copy ? NodeKind::Copy
                                                     : NodeKind::Fill,
                 row, subject_of(operation)};
    node.end_ns = end_of(operation);
    node.own = node.end_ns - start_ns;
    node.before = now.last;
    // Overlap in one stream: a kernel that was allowed to start early, or branches of one graph.
    if (now.latest != 0 && end_[now.latest] > start_ns && !same_graph_launch(operation, graph_.nodes_[now.latest].row))
      node.before = now.latest;
    bind(node, launch_node(operation, start_ns), start_ns);
    now.latest = add(node);
    node_of_operation_[row] = now.latest;
    now.running.push_back({node.end_ns, now.latest, node.before});
    std::push_heap(now.running.begin(), now.running.end(),
                   [](const Running& a, const Running& b) { return a.end_ns > b.end_ns; });
  }

  // The later of the stream and the launch bound the operation: that edge has the measured time, the other one none.
  void bind(NewNode& node, uint32_t launch, int64_t start_ns) {
    const int64_t since_before = start_ns - end_[node.before];
    node.other = launch;
    if (launch == 0) {
      node.after_before = since_before;
      node.flags |= kNodeUnexplained;
      return;
    }
    const int64_t since_launch = start_ns - end_[launch];
    if (node.before == 0 || since_launch < since_before) {
      node.flags |= kNodeBoundByOther;
      node.after_other = since_launch;
      node.after_before = std::min<int64_t>(since_before, 0);
    } else {
      node.after_before = since_before;
      node.after_other = std::min<int64_t>(since_launch, 0);
    }
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

  void find_last() {
    for (uint32_t id = 1; id < end_.size(); ++id) {
      if (graph_.last_ == kNone || end_[id] > end_[graph_.last_]) graph_.last_ = id;
    }
    graph_.wall_ns_ = graph_.last_ == kNone ? 0 : end_[graph_.last_] - begin_ns_;
  }

  // A slot is free again after the last node that reads it. Few are in use at a time: what threads and streams have
  // reached, and operations that are launched and not yet waited for.
  void assign_slots() {
    Column<Node>& nodes = graph_.nodes_;
    Column<uint32_t> last_use;  // of node ids; 0: none
    last_use.resize(nodes.size());
    std::vector<bool> outlived(nodes.size());  // something ends no earlier
    for (uint32_t id = 1; id < nodes.size(); ++id) {
      last_use[nodes[id].before] = last_use[nodes[id].other] = id;
      if (graph_.time(nodes[id].after_before) >= 0) outlived[nodes[id].before] = true;
      if (graph_.time(nodes[id].after_other) >= 0) outlived[nodes[id].other] = true;
    }
    std::vector<uint32_t> free;
    for (uint32_t id = 1; id < nodes.size(); ++id) {
      Node& node = nodes[id];
      const uint32_t before = node.before, other = node.other;
      node.before = nodes[before].slot, node.other = nodes[other].slot;
      if (before != 0 && last_use[before] == id) free.push_back(node.before);
      if (other != 0 && other != before && last_use[other] == id) free.push_back(node.other);
      if (free.empty()) free.push_back(graph_.slots_++);
      node.slot = free.back();
      if (last_use[id] != 0) free.pop_back();
      // Work may be the last although something waits for it: a what-if may drop the wait.
      if (!outlived[id] || (kind_bit(node.kind()) & kOperationNodes) != 0) node.word |= kNodeLast << 4;
    }
  }

  DependencyGraph& graph_;
  const Trace& trace_;
  const Dependencies& waits_;
  const int64_t begin_ns_, end_ns_;
  CallTable calls_;
  std::vector<ThreadNow> threads_;
  std::vector<StreamNow> streams_;
  Column<int64_t> end_;                                // of each node
  Column<uint32_t> node_of_call_, node_of_operation_;  // 0: none
  std::vector<std::vector<Moment>> handed_;            // by thread
  std::vector<uint32_t> handoff_node_;
};

DependencyGraph::DependencyGraph(const Trace& trace, const Dependencies& dependencies, int64_t begin_ns, int64_t end_ns)
    : trace_(trace),
      dependencies_(dependencies),
      begin_ns_(sane(begin_ns)),
      end_ns_(std::max(sane(end_ns), begin_ns_)) {
  GraphBuilder(*this).run();
}

}  // namespace prof::analyzer
