// The last step of the builder: a call of the CUDA runtime and the driver call inside it become one row. Otherwise a
// launch through the runtime would be a launch and a call, and a wait would be two waits. The row has the runtime's
// name, times and result, because nvprof, nsys and Kineto show that level. From the driver call it has subject, stream,
// depth, stack, flags and GPU operations.
//
//   cudaMalloc [ cuDevicePrimaryCtxRetain … cuMemAlloc_v2 ]   one row cudaMalloc (an allocation),
//                                                             one cuDevicePrimaryCtxRetain
//
// Which driver call is joined to the row? The launch, if there is one; else the last allocation; else the last call,
// because calls that the runtime needs first (contexts, modules) come before the one that it was called for. If there
// are several launches, each keeps its row and times and gets the runtime's name.
#include "analyzer/base/parallel.h"
#include "analyzer/input/log/build/stages.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

constexpr uint8_t kGone = 1;  // its contents are in another row

class ThreadJoin {
 public:
  ThreadJoin(const std::vector<bool>& outer, Trace& trace, Column<uint8_t>& marks, std::vector<uint32_t>& into)
      : outer_(outer), trace_(trace), marks_(marks), into_(into) {}

  void run(Rows rows) {
    for (uint32_t row = rows.first; row < rows.last; ++row) {
      while (!open_.empty() && !holds(open_.back().row, row)) close();
      if (!is_outer(row)) {
        if (!open_.empty()) open_.back().inside.push_back(row);
        continue;
      }
      std::vector<uint32_t> inside = same_times_before(rows.first, row);
      open_.push_back({row, std::move(inside)});
    }
    while (!open_.empty()) close();
  }

 private:
  struct Open {
    uint32_t row;
    std::vector<uint32_t> inside;
  };

  bool is_outer(uint32_t row) const { return outer_[trace_.host[row].api()]; }
  bool holds(uint32_t outer, uint32_t row) const {
    return trace_.host[row].begin_ns >= trace_.host[outer].begin_ns &&
           trace_.host[row].end_ns <= trace_.host[outer].end_ns;
  }

  // Calls without duration are in the order in which they ended.
  std::vector<uint32_t> same_times_before(uint32_t first, uint32_t outer) {
    std::vector<uint32_t> inside;
    for (uint32_t row = outer; row > first && holds(outer, row - 1) && holds(row - 1, outer); --row) {
      if (is_outer(row - 1) || marks_[row - 1] == kGone) break;
      if (!open_.empty() && !open_.back().inside.empty() && open_.back().inside.back() == row - 1)
        open_.back().inside.pop_back();
      inside.insert(inside.begin(), row - 1);
    }
    return inside;
  }

  void close() {
    const Open done = std::move(open_.back());
    open_.pop_back();
    uint32_t launches = 0, taken = kNone;
    HostKind of = HostKind::Call;
    for (const uint32_t row : done.inside) {
      const HostEvent& event = trace_.host[row];
      launches += event.is_launch() ? 1 : 0;
      const bool better = event.is_launch() || (event.kind() == HostKind::Allocation && of != HostKind::KernelLaunch) ||
                          of == HostKind::Call;
      if (better) {
        taken = row;
        of = event.is_launch() ? HostKind::KernelLaunch : event.kind();
      }
    }
    if (launches > 1) {
      for (const uint32_t row : done.inside) {
        if (trace_.host[row].is_launch()) name_after(trace_.host[row], row, trace_.host[done.row].api());
      }
      marks_[done.row] = kGone;
      return;
    }
    if (taken != kNone) take_in(done.row, taken);
    if (!open_.empty()) open_.back().inside.push_back(done.row);
  }

  void name_after(HostEvent& event, uint32_t row, uint32_t api) {
    if (trace_.inner_apis[row] == 0) trace_.inner_apis[row] = static_cast<uint16_t>(event.api());
    event.word = HostEvent::pack(api, event.kind(), event.flags(), event.result());
  }

  void take_in(uint32_t outer, uint32_t inner) {
    HostEvent& to = trace_.host[outer];
    const HostEvent& from = trace_.host[inner];
    trace_.inner_apis[outer] =
        trace_.inner_apis[inner] != 0 ? trace_.inner_apis[inner] : static_cast<uint16_t>(from.api());
    to.subject = from.subject;
    to.stream = from.stream;
    to.live_depth = from.live_depth;
    to.stack = to.stack != 0 ? to.stack : from.stack;
    to.correlation = from.correlation;
    to.word = HostEvent::pack(to.api(), from.kind(), from.flags(), to.result() != 0 ? to.result() : from.result());
    marks_[inner] = kGone;
    into_[inner] = outer;
  }

  const std::vector<bool>& outer_;
  Trace& trace_;
  Column<uint8_t>& marks_;
  std::vector<uint32_t>& into_;  // row -> the row that it was joined to
  std::vector<Open> open_;
};

}  // namespace

void join_runtime_calls(const std::vector<bool>& outer, Trace& trace, unsigned workers) {
  if (std::find(outer.begin(), outer.end(), true) == outer.end()) return;
  std::vector<bool> of_api = outer;
  of_api.resize(HostEvent::kMostApis);
  trace.inner_apis.resize(trace.host.size());
  Column<uint8_t> marks;
  marks.resize(trace.host.size());
  std::vector<uint32_t> moved(trace.host.size(), kNone);
  parallel_for(
      trace.threads.size(), [&](size_t t) { ThreadJoin(of_api, trace, marks, moved).run(trace.threads[t].host); },
      workers);

  // Removes the joined rows, thread by thread in their order. A joined row gets the place of its target. The target may
  // have been joined to another row, which comes before it; the depth is limited by the nesting of runtime calls.
  std::vector<Thread*> order;
  for (Thread& thread : trace.threads) order.push_back(&thread);
  std::sort(order.begin(), order.end(), [](const Thread* a, const Thread* b) { return a->host.first < b->host.first; });
  uint32_t next = 0;
  std::vector<uint32_t> place(trace.host.size(), kNone);
  for (Thread* const thread : order) {
    const Rows rows = thread->host;
    thread->host.first = next;
    for (uint32_t row = rows.first; row < rows.last; ++row) {
      if (marks[row] == kGone) continue;
      trace.host[next] = trace.host[row];
      trace.inner_apis[next] = trace.inner_apis[row];
      place[row] = next++;
    }
    thread->host.last = next;
  }
  trace.host.resize(next);
  trace.inner_apis.resize(next);
  const auto follow = [&](uint32_t& row) {
    if (row == kNone) return;
    while (moved[row] != kNone) row = moved[row];
    row = place[row];
  };
  for (GpuOperation& operation : trace.operations) follow(operation.launch);
  for (GraphNode& node : trace.graph_nodes) follow(node.call);
  for (GraphMade& made : trace.graphs_made) follow(made.call);
  for (StreamMemoryOp& op : trace.memory_ops) follow(op.call);
  for (CallDetails& said : trace.call_arguments) follow(said.call);
  sort_by_call(trace.call_arguments);
  for (CounterRow& row : trace.counters.launches) follow(row.of);
  std::sort(trace.counters.launches.begin(), trace.counters.launches.end(),
            [](const CounterRow& a, const CounterRow& b) { return a.of < b.of; });
}

}  // namespace prof::analyzer
