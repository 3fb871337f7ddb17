// Visits the rows of all threads' calls in order of their start. O(log threads) per call.
#pragma once

#include "analyzer/base/front_heap.h"
#include "analyzer/model/trace.h"

namespace prof::analyzer {

class CallsByTime {
 public:
  explicit CallsByTime(const Trace& trace) : trace_(trace) {
    for (const Thread& thread : trace.threads) {
      if (thread.host.size() != 0) heap_.push(head(thread.host));
    }
  }
  bool done() const { return heap_.empty(); }
  uint32_t next() {
    Rows rows = heap_.front().rows;
    const uint32_t row = rows.first++;
    if (rows.size() == 0) {
      heap_.pop();
    } else {
      heap_.replace_front(head(rows));
    }
    return row;
  }

 private:
  struct Head {
    int64_t begin_ns;
    Rows rows;
  };
  struct Later {
    bool operator()(const Head& a, const Head& b) const {
      return a.begin_ns != b.begin_ns ? a.begin_ns > b.begin_ns : a.rows.first > b.rows.first;
    }
  };
  Head head(const Rows& rows) const { return {trace_.host[rows.first].begin_ns, rows}; }

  const Trace& trace_;
  FrontHeap<Head, Later> heap_{Later()};
};

}  // namespace prof::analyzer
