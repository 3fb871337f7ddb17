// Which range or call happened inside which: per thread one tree by containment in time, over ranges of every kind and CUDA
// calls together, as torch.autograd.profiler makes it of its events.
//
// An event is a child of the innermost open event that contains it: it begins before the parent's end and does not end after
// it. An event that overlaps another partially is not its child. An only child of its parent's name is merged into the
// parent. The profiler's own work (RangeKind::Overhead) is apart: nodes without parent or children. Start/end ranges are no
// nodes: they end on any thread. Nodes of a thread are in preorder; 8 bytes a node and 16 for what is known of it.
#pragma once

#include "analyzer/base/column.h"
#include "analyzer/base/prefault.h"
#include "analyzer/base/saturated.h"
#include "analyzer/model/event_names.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

struct EventTreeOptions {
  bool python = false;  // Python functions too
  bool merge = true;    // only children of the parent's name
};

struct EventNode {
  uint32_t source = 0;      // row of Trace::ranges, or kCall + row of Trace::host
  uint32_t parent = kNone;  // node
  static constexpr uint32_t kCall = 1u << 31;
  bool is_call() const { return (source & kCall) != 0; }
  uint32_t row() const { return source & ~kCall; }
};
static_assert(sizeof(EventNode) == 8);

// The time from begin to end; nothing if that is reversed, and never beyond the scale.
constexpr int64_t time_between(int64_t begin_ns, int64_t end_ns) {
  if (end_ns <= begin_ns) return 0;
  const uint64_t length = static_cast<uint64_t>(end_ns) - static_cast<uint64_t>(begin_ns);
  return length > INT64_MAX ? INT64_MAX : static_cast<int64_t>(length);
}

class EventTree {
 public:
  EventTree(const Trace& trace, const EventNames& names, EventTreeOptions options = {});

  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }
  const EventNode& operator[](uint32_t node) const { return nodes_[node]; }
  Rows of_thread(ThreadId thread) const { return threads_[index(thread)]; }
  ThreadId thread(uint32_t node) const;

  // Null: the node is the other thing.
  const Range* range(uint32_t node) const;
  const HostEvent* call(uint32_t node) const;
  StringId name(uint32_t node) const;
  int64_t begin_ns(uint32_t node) const;
  int64_t end_ns(uint32_t node) const;  // never before the begin
  int64_t total_ns(uint32_t node) const { return time_between(begin_ns(node), end_ns(node)); }
  // Its time outside its children; where children overlap each other, the common part counts once.
  int64_t self_ns(uint32_t node) const { return self_ns_[node]; }

  // The node of a row, the parent's where it was merged; kNone where it has none.
  uint32_t of_range(uint32_t row) const { return of_range_[row]; }
  uint32_t of_call(uint32_t row) const { return of_call_[row]; }

  uint64_t merged() const { return merged_; }      // nodes that went into their parent
  uint64_t filtered() const { return filtered_; }  // operators left out: EventNames::is_filtered()

 private:
  struct Open {
    uint32_t node;
    int64_t end_ns;
    int64_t covered_ns;        // by children so far
    int64_t covered_until_ns;  // the latest end among them
  };
  void add_thread(ThreadId thread);
  void add(uint32_t source, int64_t begin_ns, int64_t end_ns);
  void close();
  void merge_only_children();
  bool takes(const Range& range);

  const Trace& trace_;
  const EventNames& names_;
  EventTreeOptions options_;
  Column<EventNode> nodes_;
  Column<int64_t> self_ns_;
  Column<uint32_t> of_range_, of_call_;
  std::vector<Rows> threads_;
  std::vector<Open> open_;
  uint64_t merged_ = 0, filtered_ = 0;
};

// What a node's launches took on the GPU, every operation once: at the innermost range around its launch, or at the call
// itself where no range is around it.
struct DeviceTimes {
  Column<int64_t> self_ns, total_ns;  // by node
};
// `counts(operation)`: whether the operation is asked for. `at_calls`: launches outside all ranges keep their time.
template <class Counts>
DeviceTimes device_times(const Trace& trace, const EventTree& tree, bool at_calls, Counts counts);

// The node that has an operation's time: kNone without a launch or, unless `at_calls`, without a range.
uint32_t node_of_operation(const EventTree& tree, const GpuOperation& operation, bool at_calls);
// The same of what a call launches.
uint32_t node_of_launch(const EventTree& tree, uint32_t host_row, bool at_calls);

// Adds each node's value to its parent's, children first. `total` holds the nodes' own values before.
void add_up(const EventTree& tree, Column<int64_t>& total);

template <class Counts>
DeviceTimes device_times(const Trace& trace, const EventTree& tree, bool at_calls, Counts counts) {
  DeviceTimes times;
  times.self_ns.resize(tree.size());
  times.total_ns.resize(tree.size());
  write_pages(times.self_ns);
  write_pages(times.total_ns);
  for (const GpuOperation& operation : trace.operations) {
    if (!counts(operation)) continue;
    const uint32_t node = node_of_operation(tree, operation, at_calls);
    if (node == kNone) continue;
    const int64_t ns = time_between(operation.start_ns, operation.end_ns);
    times.self_ns[node] = add_saturated(times.self_ns[node], ns);
    times.total_ns[node] = add_saturated(times.total_ns[node], ns);
  }
  add_up(tree, times.total_ns);
  return times;
}

// Bytes allocated less bytes released while a node was open, of host memory and of devices.
struct MemoryUse {
  int64_t host = 0, device = 0;
  MemoryUse& operator+=(const MemoryUse& other);
  MemoryUse& operator-=(const MemoryUse& other);
};
struct NodeMemory {
  std::vector<MemoryUse> self, total;  // by node; empty if the trace has no memory events
  std::vector<uint32_t> outside;       // rows of Trace::memory that no node contains
};
// Each event counts for the innermost node around it on its own thread, and so once in `self`. `any_thread`: as
// torch.autograd.profiler does, every event of the process counts in every node open then, whatever thread it is on.
NodeMemory node_memory(const Trace& trace, const EventTree& tree, bool any_thread);

}  // namespace prof::analyzer
