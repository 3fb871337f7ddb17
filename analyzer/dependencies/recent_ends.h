// Did anything end in an interval, so that it may be what a call, an operation or a thread waited for? Ends of GPU
// operations, of host calls, and of ranges of threads without calls, over all processes of the input: processes wait
// for each other by pipes, memory and collectives, which no trace shows. Used by dependency_graph.cpp, which marks
// what may have waited for more than the trace shows. O(n log streams) to construct; `now_ns` of queries must rarely go
// back.
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

  // Whether an operation ended in (after_ns, now_ns], or ends in (now_ns, until_ns].
  bool operation_ended(int64_t after_ns, int64_t now_ns);
  bool operation_ends(int64_t now_ns, int64_t until_ns);

  // A call that began no later than all later queries.
  void add_call(int64_t end_ns);
  // Whether a call ended in (after_ns, now_ns], or a range of a thread without calls. If the calls of a thread had
  // ended by after_ns, it was another thread's.
  bool host_ended(int64_t after_ns, int64_t now_ns);

 private:
  // Sorted, and how many of them had ended at the last query.
  struct Ends {
    Column<int64_t> times;
    size_t passed = 0;
    void go_to(int64_t now_ns);
    bool ended(int64_t after_ns, int64_t now_ns);
  };

  Ends operations_, ranges_;
  uint32_t threads_ = 0;                                     // with calls
  std::vector<int64_t> running_;                             // ends of calls, a heap, the earliest at the front
  int64_t latest_ns_ = std::numeric_limits<int64_t>::min();  // the latest end of a call
};

}  // namespace prof::analyzer
