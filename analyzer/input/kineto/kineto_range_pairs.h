// Ranges that are written as two events.
#pragma once

#include "analyzer/input/kineto/kineto_rows.h"
#include "analyzer/input/kineto/kineto_summary.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

// KinetoRangePairs collects starts and ends of ranges and joins them after the last event: B and E nest on their
// thread, b and e with the same key nest by their names. A start without an end makes an unfinished range, which ends
// with its caller if that one has an end.
class KinetoRangePairs {
 public:
  struct Edge {
    int64_t time_ns = 0;
    uint64_t detail = 0;  // row of Trace::details; 0: none
    ThreadId thread{};
    LabelId label{};
    StringId key{};  // async edges; empty: nested
    KinetoEdgeKind edge = KinetoEdgeKind::NestedBegin;
    RangeKind kind = RangeKind::Annotation;
  };
  void add(const Edge& edge) { edges_.push_back({edge, row_count(edges_)}); }

  // Adds the ranges to Trace::ranges, with the place of their start in the file as order (ImportMark), and drops the
  // edges. `last_ns`: the end of unfinished ranges, unless they start later.
  void close(int64_t last_ns, Trace& trace, KinetoSummary& summary);

 private:
  struct Ordered : Edge {
    uint32_t order;  // in the file
  };
  using Iterator = std::vector<Ordered>::const_iterator;
  static size_t closed_by(const Ordered& end, const std::vector<Ordered>& open, const Trace& trace);
  static void close_nested(Iterator first, Iterator last, int64_t last_ns, Trace& trace, KinetoSummary& summary);
  static void close_async(Iterator first, Iterator last, int64_t last_ns, Trace& trace, KinetoSummary& summary);
  static void add_range(const Ordered& begin, int64_t end_ns, RangeStyle style, bool unfinished, Trace& trace);

  std::vector<Ordered> edges_;
};

}  // namespace prof::analyzer
