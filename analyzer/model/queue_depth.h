// Exact queue depth from GPU times, by the definitions of docs/reports/queue-depth.md. A linked operation is *waiting* on
// [launch entered, GPU start) and *outstanding* on [launch entered, GPU end); an empty or reversed interval counts nothing.
// It counts on the stream its launch was made into (for a graph: the stream the graph was launched into), else on the
// stream it ran on. Operations whose launch is not known have no beginning and count nothing. O(n log n), a sorted sweep.
#pragma once

#include "analyzer/model/trace.h"

#include <vector>

namespace prof::analyzer {

// The depths from time_ns until the next step.
struct DepthStep {
  int64_t time_ns = 0;
  uint32_t waiting = 0;
  uint32_t outstanding = 0;
};

// Depth of the launch's stream at the moment the launch was entered, its own operations not counted.
struct LaunchDepth {
  uint32_t waiting = kNone;  // kNone: not a launch with a known stream, or captured into a graph
  uint32_t outstanding = kNone;
  bool known() const { return waiting != kNone; }
};

class QueueDepth {
 public:
  explicit QueueDepth(const Trace& trace);

  // One entry per row of Trace::host.
  const Column<LaunchDepth>& at_launch() const { return at_launch_; }

  // Calls visit(DepthStep) for each moment at which a depth of the stream, or the sum over several, changes.
  template <class Visit> void for_each_step(const std::vector<StreamId>& streams, Visit&& visit) const {
    Merged begins(*this, streams, Edge::Begin), starts(*this, streams, Edge::Start);
    Merged outstanding_begins(*this, streams, Edge::OutstandingBegin), ends(*this, streams, Edge::End);
    uint32_t b = 0, w = 0, o = 0, e = 0;
    while (!ends.done()) {  // nothing begins or starts after the last end
      int64_t now = ends.peek();
      for (const Merged* list : {&begins, &starts, &outstanding_begins}) {
        if (!list->done() && list->peek() < now) now = list->peek();
      }
      b += begins.pop_until(now), w += starts.pop_until(now);
      o += outstanding_begins.pop_until(now), e += ends.pop_until(now);
      visit(DepthStep{now, b - w, o - e});
    }
  }

 private:
  enum class Edge { Begin, Start, OutstandingBegin, End };

  // The times of one edge of a stream's operations in growing order: read in place where they already are, else sorted.
  class Times {
   public:
    Times(const QueueDepth& depth, StreamId stream, Edge edge);
    bool done() const { return at_ == end_; }
    int64_t peek() const { return now_; }
    void pop() {
      ++at_;
      settle();
    }

   private:
    bool read(uint32_t position, int64_t& time) const;  // false: this operation has no such edge
    void settle();

    const QueueDepth* depth_;
    Edge edge_;
    Rows rows_;
    uint32_t at_ = 0, end_ = 0;
    int64_t now_ = 0;
    bool sorted_copy_ = false;
    std::vector<int64_t> copy_;
  };

  // The same over several streams.
  class Merged {
   public:
    Merged(const QueueDepth& depth, const std::vector<StreamId>& streams, Edge edge);
    bool done() const { return lists_.empty(); }
    int64_t peek() const { return lists_.front().peek(); }
    uint32_t pop_until(int64_t time);  // pops all <= time and counts them
    uint32_t pop_before(int64_t time) { return pop_until(time - 1); }

   private:
    std::vector<Times> lists_;  // a heap, the earliest in front
  };

  const GpuOperation& operation_at(uint32_t position) const {
    return trace_.operations[order_.empty() ? position : order_[position]];
  }

  const Trace& trace_;
  Column<uint32_t> order_;       // rows of Trace::operations grouped by the stream they count on; empty: as they are
  std::vector<Rows> of_stream_;  // StreamId -> positions in order_ (or rows of operations)
  Column<LaunchDepth> at_launch_;
};

}  // namespace prof::analyzer
