// Which range or call happened inside which? One tree per thread by containment in time, over ranges of every kind and
// CUDA calls together, as torch.autograd.profiler builds it from its events. Used by all reports about operators.
//
// An event is a child of the innermost open event that contains it: it begins before the parent's end and does not end
// after it. An event that overlaps another one partially is not its child. An only child with its parent's name is
// merged into the parent. Profiler overhead (RangeKind::Overhead) becomes nodes without parent or children. Start/end
// ranges are no nodes, because they may end on any thread. Nodes of a thread are in preorder. A node takes 8 bytes, and
// 16 more for its self time and index.
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
  bool python = false;  // also Python functions
  bool merge = true;    // merge only children with the parent's name
};

struct EventNode {
  uint32_t source = 0;      // row of Trace::ranges, or kCall + row of Trace::host
  uint32_t parent = kNone;  // index of a node
  static constexpr uint32_t kCall = 1u << 31;
  bool is_call() const { return (source & kCall) != 0; }
  uint32_t row() const { return source & ~kCall; }
};
static_assert(sizeof(EventNode) == 8);

// The time from start to end: 0 if reversed, saturated at INT64_MAX.
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

  // Null if the node is a call, or a range respectively.
  const Range* range(uint32_t node) const;
  const HostEvent* call(uint32_t node) const;
  StringId name(uint32_t node) const;
  int64_t begin_ns(uint32_t node) const;
  int64_t end_ns(uint32_t node) const;  // never before the start
  int64_t total_ns(uint32_t node) const { return time_between(begin_ns(node), end_ns(node)); }
  // Time outside its children. The common part of overlapping children counts once.
  int64_t self_ns(uint32_t node) const { return self_ns_[node]; }

  // The node of a row; the parent's node if it was merged; kNone if there is none.
  uint32_t of_range(uint32_t row) const { return of_range_[row]; }
  uint32_t of_call(uint32_t row) const { return of_call_[row]; }

  uint64_t merged() const { return merged_; }      // nodes that were merged into their parent
  uint64_t filtered() const { return filtered_; }  // operators left out: EventNames::is_filtered()

 private:
  struct Open {
    uint32_t node;
    int64_t end_ns;
    int64_t covered_ns;        // by the children so far
    int64_t covered_until_ns;  // the latest end of the children so far
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

// GPU time of a node's launches. Every operation counts once in self_ns: at the innermost range around its launch, or
// at the call itself if no range is around it.
struct DeviceTimes {
  Column<int64_t> self_ns, total_ns;  // by node
};
// `counts(operation)`: whether the operation counts. `at_calls`: whether launches outside all ranges count at their
// call.
template <class Counts>
DeviceTimes device_times(const Trace& trace, const EventTree& tree, bool at_calls, Counts counts);

// The node that gets an operation's time. kNone: there is no launch or, unless `at_calls`, no range.
uint32_t node_of_operation(const EventTree& tree, const GpuOperation& operation, bool at_calls);
// The node that gets the time of a call's operations.
uint32_t node_of_launch(const EventTree& tree, uint32_t host_row, bool at_calls);

// Adds each node's value to its parent's, children first. On entry `total` has the nodes' own values.
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

// Bytes allocated minus bytes released while a node was open, of host memory and of devices.
struct MemoryUse {
  int64_t host = 0, device = 0;
  MemoryUse& operator+=(const MemoryUse& other);
  MemoryUse& operator-=(const MemoryUse& other);
};
struct NodeMemory {
  std::vector<MemoryUse> self, total;  // by node; empty if the trace has no memory events
  std::vector<uint32_t> outside;       // rows of Trace::memory that no node contains
};
// Each event counts for the innermost node around it on its own thread, so it counts once in `self`. `any_thread`: as
// in torch.autograd.profiler, every event of the process counts in every node that is open at that time, on any thread.
NodeMemory node_memory(const Trace& trace, const EventTree& tree, bool any_thread);

}  // namespace prof::analyzer
