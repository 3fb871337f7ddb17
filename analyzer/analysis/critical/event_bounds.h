// What bounds each call and GPU operation, how much of it is on the critical path, and what is its slack? Used by the
// augmented trace. The values are those of the reports critical-path and what-if, in the default window of
// critical-path: from the first launch to the last event. O(n log n) time; 8 bytes per event are kept.
#pragma once

#include "analyzer/base/intervals.h"
#include "analyzer/dependencies/dependency_graph.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// What bounds an event in the measured run: without it the event would begin earlier.
enum class BoundBy : uint8_t {
  Nothing,      // outside the window
  Host,         // a call: earlier work of its thread
  OtherThread,  // a call: another thread had to finish first
  Gpu,          // a call: it returned when the operations that it waited for ended
  QueueFull,    // a launch: it returned when the queue had room
  Launch,       // an operation: its launch; the stream was idle before
  Stream,       // an operation: the previous operation of its stream
  OtherStream,  // an operation: an operation of another stream
  Unexplained,  // nothing in the trace explains it
};
struct EventBound {
  BoundBy by = BoundBy::Nothing;
  bool critical = false;  // on the critical path, for time_ns
  bool has_time = false;  // false for calls inside other calls: they have no time_ns
  int64_t time_ns = 0;    // critical: time on the path; else the slack
};

// A row of Trace::host or Trace::operations.
struct EventRef {
  bool is_call = false;
  uint32_t row = 0;
};
struct EventLink {
  EventRef from, to;
};

class EventBounds {
 public:
  explicit EventBounds(const Trace& trace);

  EventBound of_call(uint32_t row) const { return unpack(calls_, row); }
  EventBound of_operation(uint32_t row) const { return unpack(operations_, row); }
  // The part of [begin, end) that the critical path spends on the thread.
  int64_t critical_ns(ThreadId thread, int64_t begin_ns, int64_t end_ns) const {
    return of_thread_.empty() ? 0 : of_thread_[index(thread)].overlap_ns(begin_ns, end_ns);
  }
  // The places where the critical path changes its thread or stream, in order of time.
  const std::vector<EventLink>& path_links() const { return path_links_; }
  // Operations that waited for operations of another stream, and calls that waited for operations. Orders that follow
  // without evidence (launch, stream, legacy default stream) are not included.
  const std::vector<EventLink>& dependencies() const { return dependencies_; }

 private:
  void add_nodes(const DependencyGraph& graph);
  void add_path(const DependencyGraph& graph);
  void add_calls_inside();
  void add_dependencies(const Dependencies& dependencies);
  BoundBy bound_of(const DependencyGraph& graph, uint32_t id, uint32_t bound) const;

  // time << 6 | has_time << 5 | critical << 4 | by
  static int64_t pack(const EventBound& bound) {
    return bound.time_ns << 6 | static_cast<int64_t>(bound.has_time) << 5 | static_cast<int64_t>(bound.critical) << 4 |
           static_cast<int64_t>(bound.by);
  }
  static EventBound unpack(const Column<int64_t>& column, uint32_t row) {
    if (column.empty()) return {};
    const int64_t word = column[row];
    return {static_cast<BoundBy>(word & 15), (word & 16) != 0, (word & 32) != 0, word >> 6};
  }

  const Trace& trace_;
  Column<int64_t> calls_, operations_;  // by row, packed; empty: no GPU operations
  std::vector<IntervalSet> of_thread_;  // by ThreadId
  std::vector<EventLink> path_links_, dependencies_;
};

}  // namespace prof::analyzer
