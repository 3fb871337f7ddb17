// Did anything end in an interval, so that it may be what a call or an operation waited for? Ends of GPU operations and
// of host calls, by group of processes: processes that share a GPU are one group. Used by dependency_graph.cpp, which
// marks what may have waited for more than the trace shows. O(operations) to construct; `now_ns` of queries must rarely
// go back.
#pragma once

#include "analyzer/base/column.h"
#include "analyzer/dependencies/graph_sources.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace prof::analyzer {

class RecentEnds {
 public:
  RecentEnds(const Trace& trace, const GraphSources& sources);

  uint32_t group_of(ProcessId process) const { return group_of_process_[index(process)]; }
  uint32_t group_of(StreamId stream) const { return group_of(trace_.process_of(stream)); }

  // Whether an operation of the group ended in (after_ns, now_ns], or ends in (now_ns, until_ns].
  bool operation_ended(uint32_t group, int64_t after_ns, int64_t now_ns);
  bool operation_ends(uint32_t group, int64_t now_ns, int64_t until_ns);

  // A call that began no later than all later queries.
  void add_call(uint32_t group, int64_t end_ns);
  // Whether a call of the group ended in (after_ns, now_ns]. If the calls of a thread had ended by after_ns, it was
  // another thread's. Always false for a group with one thread.
  bool call_ended(uint32_t group, int64_t after_ns, int64_t now_ns);

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
  struct Group {
    Column<int64_t> ends;          // of its operations, sorted
    size_t passed = 0;             // these ended at or before the last query's now_ns
    uint32_t threads = 0;          // with calls
    std::vector<int64_t> running;  // ends of calls, a heap, the earliest at the front
    int64_t latest_ns = kNever;    // the latest end of a call
  };

  Group& at(uint32_t group, int64_t now_ns);

  const Trace& trace_;
  std::vector<uint32_t> group_of_process_;
  std::vector<Group> groups_;
};

}  // namespace prof::analyzer
