#include "analyzer/analysis/stream_ranges.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace prof::analyzer {

namespace {

// Operations by launch call: those of call c are rows[first[c], first[c + 1]).
struct OperationsOfCalls {
  Column<uint32_t> first, rows;

  explicit OperationsOfCalls(const Trace& trace) {
    first.resize(trace.host.size() + 2);  // while rows are placed, entry c + 1 is the next place of call c
    for (const GpuOperation& operation : trace.operations) {
      if (operation.linked()) ++first[operation.launch + size_t{2}];
    }
    for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    rows.resize(first.back());
    for (uint32_t row = 0; row < trace.operations.size(); ++row) {
      const GpuOperation& operation = trace.operations[row];
      if (operation.linked()) rows[first[operation.launch + size_t{1}]++] = row;
    }
  }
};

// Walks a thread's ranges and launches together. An operation is stored in the innermost open range. A range that ends
// passes its operations to the enclosing range, so the cost does not depend on the nesting depth.
class ThreadSweep {
 public:
  ThreadSweep(const Trace& trace, const OperationsOfCalls& operations, std::vector<StreamRange>& to)
      : trace_(trace), operations_(operations), to_(to), wanted_(trace.labels.size()) {
    for (size_t label = 0; label < wanted_.size(); ++label)
      wanted_[label] = trace.text(trace.labels[label].domain) != "library";
  }

  void run(const Thread& thread) {
    next_ = thread.ranges.first;
    last_ = thread.ranges.last;
    hidden_end_ns_ = INT64_MAX;
    for (uint32_t call = thread.host.first; call < thread.host.last; ++call) {
      const uint32_t first = operations_.first[call], last = operations_.first[call + size_t{1}];
      if (first == last) continue;
      go_to(trace_.host[call].begin_ns);
      if (depth_ == 0) continue;
      for (uint32_t i = first; i < last; ++i) {
        const GpuOperation& operation = trace_.operations[operations_.rows[i]];
        note(open_[depth_ - 1].seen, {operation.start_ns, operation.last_ns(), operation.stream_index});
      }
    }
    while (depth_ != 0) close(depth_ - 1);
  }

 private:
  struct Seen {
    int64_t start_ns, end_ns;
    uint32_t stream;
  };
  struct Open {
    uint32_t range = 0;
    int64_t end_ns = 0;
    std::vector<Seen> seen;  // by stream: launched in it and not in an open range inside
  };

  static void note(std::vector<Seen>& seen, const Seen& one) {
    for (Seen& known : seen) {
      if (known.stream != one.stream) continue;
      known.start_ns = std::min(known.start_ns, one.start_ns);
      known.end_ns = std::max(known.end_ns, one.end_ns);
      return;
    }
    seen.push_back(one);
  }

  // Closes the ranges that ended by then, and opens those that contain the moment.
  void go_to(int64_t time_ns) {
    while (depth_ != 0 && open_[depth_ - 1].end_ns <= time_ns) close(depth_ - 1);
    if (hidden_end_ns_ <= time_ns) close_hidden(time_ns);
    for (; next_ < last_ && trace_.ranges[next_].begin_ns <= time_ns; ++next_) {
      const Range& range = trace_.ranges[next_];
      const bool annotation = range.kind == RangeKind::Nvtx || range.kind == RangeKind::Annotation;
      if (!annotation || range.end_ns <= time_ns || !wanted_[index(range.label)]) continue;
      open(next_, range.end_ns);
    }
  }

  void open(uint32_t range, int64_t end_ns) {
    if (depth_ == open_.size()) open_.emplace_back();
    open_[depth_].range = range;
    open_[depth_].end_ns = end_ns;
    open_[depth_++].seen.clear();
    for (size_t i = depth_ - 1; i-- != 0 && open_[i].end_ns < end_ns;)
      hidden_end_ns_ = std::min(hidden_end_ns_, open_[i].end_ns);
  }

  // Closes ranges that end while ranges of other domains, opened after them, are still open.
  void close_hidden(int64_t time_ns) {
    hidden_end_ns_ = INT64_MAX;
    for (size_t i = depth_; i-- != 0;) {
      if (open_[i].end_ns <= time_ns) {
        close(i);
      } else if (i + 1 < depth_) {
        hidden_end_ns_ = std::min(hidden_end_ns_, open_[i].end_ns);
      }
    }
  }

  void close(size_t at) {
    std::vector<Seen>& seen = open_[at].seen;
    if (at != 0) {
      for (const Seen& one : seen) note(open_[at - 1].seen, one);
    }
    for (size_t inside = at + 1; inside < depth_; ++inside) {
      for (const Seen& one : open_[inside].seen) note(seen, one);
    }
    for (const Seen& one : seen) to_.push_back({one.start_ns, one.end_ns, open_[at].range, one.stream});
    for (size_t i = at; i + 1 < depth_; ++i) std::swap(open_[i], open_[i + 1]);
    --depth_;
  }

  const Trace& trace_;
  const OperationsOfCalls& operations_;
  std::vector<StreamRange>& to_;
  std::vector<bool> wanted_;  // by LabelId
  std::vector<Open> open_;    // the first depth_ are open, the outermost first
  size_t depth_ = 0;
  int64_t hidden_end_ns_ = INT64_MAX;  // no open range below the last one ends before this
  uint32_t next_ = 0, last_ = 0;       // ranges that are not opened yet
};

}  // namespace

std::vector<StreamRange> ranges_on_streams(const Trace& trace) {
  std::vector<StreamRange> ranges;
  if (trace.ranges.empty() || trace.operations.empty()) return ranges;
  const OperationsOfCalls operations(trace);
  ThreadSweep sweep(trace, operations, ranges);
  for (const Thread& thread : trace.threads) {
    if (thread.ranges.size() != 0) sweep.run(thread);
  }
  std::sort(ranges.begin(), ranges.end(), [](const StreamRange& a, const StreamRange& b) {
    return std::tuple(a.stream, a.start_ns, b.end_ns, a.range) < std::tuple(b.stream, b.start_ns, a.end_ns, b.range);
  });
  return ranges;
}

}  // namespace prof::analyzer
