// What is the exact queue depth, computed from GPU times by the definitions of docs/reports/queue-depth.md? A linked
// operation is *waiting* in [launch start, GPU start) and *outstanding* in [launch start, GPU end). Empty and reversed
// intervals do not count. An operation counts on the stream of its launch (for a graph the stream into which the graph
// was launched), else on the stream on which it ran. Operations without a known launch do not count. O(n log n), a
// sorted sweep.
//
// A launch without GPU times (between bursts of PROF_BUDGET) may still be waiting when a later launch begins. A stream
// works in order. So it has ended once an operation has started whose launch began after that launch had returned.
// Until then the depth is unknown.
#pragma once

#include "analyzer/base/front_heap.h"
#include "analyzer/model/trace.h"

#include <array>
#include <vector>

namespace prof::analyzer {

// The depths from time_ns until the next step.
struct DepthStep {
  int64_t time_ns = 0;
  uint32_t waiting = 0;
  uint32_t outstanding = 0;
};

// Depth of the launch's stream at the start of the launch, without its own operations.
struct LaunchDepth {
  uint32_t waiting =
      kNone;  // kNone: no launch with a known stream, captured into a graph, or after launches without GPU times
  uint32_t outstanding = kNone;
  bool known() const { return waiting != kNone; }
};

class WaitingOperations {
 public:
  explicit WaitingOperations(const Trace& trace);

  // One entry per row of Trace::host.
  const Column<LaunchDepth>& at_launch() const { return at_launch_; }

  // Calls visit(DepthStep) for each moment at which a depth of the stream, or the sum over several streams, changes.
  template <class Visit> void for_each_step(const std::vector<StreamId>& streams, Visit&& visit) const {
    Merged entries(*this, streams, Edge::Entry), starts(*this, streams, Edge::Start), ends(*this, streams, Edge::End);
    Change depth;
    while (!ends.done()) {  // nothing begins or starts after the last end
      int64_t now = ends.peek();
      for (const Merged* list : {&entries, &starts}) {
        if (!list->done() && list->peek() < now) now = list->peek();
      }
      depth.add(entries.pop_until(now));
      depth.subtract(starts.pop_until(now));
      depth.subtract(ends.pop_until(now));
      visit(DepthStep{now, depth.waiting, depth.outstanding});
    }
  }

 private:
  // Where an operation begins to count, stops waiting, and stops being outstanding.
  enum class Edge { Entry, Start, End };

  // A change of the depths, or the depths themselves.
  struct Change {
    uint32_t waiting = 0, outstanding = 0;
    void add(const Change& other) {
      waiting += other.waiting;
      outstanding += other.outstanding;
    }
    void subtract(const Change& other) {
      waiting -= other.waiting;
      outstanding -= other.outstanding;
    }
  };
  struct At {
    int64_t time_ns = 0;
    Change change;
  };

  // One edge of a stream's operations in order of time. Read in place if the operations are in that order, else from a
  // sorted copy.
  class Times {
   public:
    Times(const WaitingOperations& depth, StreamId stream, Edge edge);
    bool done() const { return at_ == end_; }
    const At& peek() const { return now_; }
    void pop() {
      ++at_;
      settle();
    }

   private:
    void settle();

    const WaitingOperations* depth_;
    Edge edge_;
    uint32_t at_ = 0, end_ = 0;
    At now_;
    bool sorted_copy_ = false;
    std::vector<At> copy_;
  };

  // The same over several streams.
  class Merged {
   public:
    Merged(const WaitingOperations& depth, const std::vector<StreamId>& streams, Edge edge);
    bool done() const { return heads_.empty(); }
    int64_t peek() const { return heads_.front().time_ns; }
    Change pop_until(int64_t time);  // pops all <= time and returns their sum
    Change pop_before(int64_t time) { return pop_until(time - 1); }

   private:
    struct Head {
      int64_t time_ns;
      uint32_t list;
    };
    struct Later {
      bool operator()(const Head& a, const Head& b) const {
        return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.list > b.list;
      }
    };
    std::vector<Times> lists_;
    FrontHeap<Head, Later> heads_{Later()};
  };

  bool read(uint32_t position, Edge edge, At& at) const;  // false: the operation has no such edge
  void find_in_order(uint32_t stream);
  void find_starts();
  void measure_launches(uint32_t stream, const uint32_t* first, const uint32_t* last);

  const GpuOperation& operation_at(uint32_t position) const {
    return trace_.operations[order_.empty() ? position : order_[position]];
  }

  const Trace& trace_;
  Column<uint32_t> order_;       // rows of Trace::operations grouped by the stream they count on; empty: unchanged
  std::vector<Rows> of_stream_;  // StreamId -> positions in order_ (or rows of operations)
  std::vector<std::array<bool, 3>> in_order_;  // StreamId, Edge -> whether its times increase with the positions
  Column<LaunchDepth> at_launch_;
  Column<int64_t> starts_;  // row of Trace::host -> start of its first operation; empty: every launch has GPU times
};

}  // namespace prof::analyzer
