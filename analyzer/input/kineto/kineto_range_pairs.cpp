#include "analyzer/input/kineto/kineto_range_pairs.h"

#include <algorithm>
#include <cstddef>

namespace prof::analyzer {

void KinetoRangePairs::add_range(const Ordered& begin, int64_t end_ns, RangeStyle style, bool unfinished,
                                 Trace& trace) {
  Range row;
  row.begin_ns = begin.time_ns;
  row.end_ns = std::max(begin.time_ns, end_ns);
  row.payload = begin.detail;
  row.thread = begin.thread;
  row.label = begin.label;
  row.style = style;
  row.kind = begin.kind;
  row.unfinished = unfinished;
  row.path = PathId{begin.order};
  trace.ranges.push_back(row);
}

void KinetoRangePairs::close(int64_t last_ns, Trace& trace, KinetoSummary& summary) {
  edges_.shrink_to_fit();
  const auto nested = [](const Ordered& edge) { return edge.key == StringId{}; };
  // Together: the async ones of one key, then the nested ones of one thread; each by time, equal times as in the file.
  std::sort(edges_.begin(), edges_.end(), [&](const Ordered& a, const Ordered& b) {
    if (a.key != b.key) return a.key < b.key;
    if (nested(a) && a.thread != b.thread) return a.thread < b.thread;
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.order < b.order;
  });
  for (auto first = edges_.cbegin(); first != edges_.cend();) {
    const auto last = std::find_if(first, edges_.cend(), [&](const Ordered& edge) {
      return edge.key != first->key || (nested(edge) && edge.thread != first->thread);
    });
    if (nested(*first)) {
      close_nested(first, last, last_ns, trace, summary);
    } else {
      close_async(first, last, last_ns, trace, summary);
    }
    first = last;
  }
  edges_ = {};
}

// The index of the open range that an end closes: the innermost of its name. If it has no name, or no open range has
// it, the innermost of all.
size_t KinetoRangePairs::closed_by(const Ordered& end, const std::vector<Ordered>& open, const Trace& trace) {
  constexpr size_t kNearest = 64;  // the search must not become quadratic
  if (index(trace.labels[index(end.label)].text) != 0) {
    for (size_t i = open.size(); i-- > open.size() - std::min(open.size(), kNearest);) {
      if (open[i].label == end.label) return i;
    }
  }
  return open.size() - 1;
}

void KinetoRangePairs::close_nested(Iterator first, Iterator last, int64_t last_ns, Trace& trace,
                                    KinetoSummary& summary) {
  std::vector<Ordered> open;
  for (; first != last; ++first) {
    if (first->edge == KinetoEdgeKind::NestedBegin) {
      open.push_back(*first);
      continue;
    }
    if (open.empty()) {
      summary.aside(KinetoAside::EndWithoutBegin);
      continue;
    }
    const size_t closed = closed_by(*first, open, trace);
    while (open.size() > closed + 1) {  // without an end: they end with their caller
      add_range(open.back(), first->time_ns, RangeStyle::PushPop, true, trace);
      trace.ranges.back().closed_early = true;
      ++trace.processes[index(trace.thread(open.back().thread).process)].coverage.ranges_closed_early;
      summary.aside(KinetoAside::Unclosed);
      open.pop_back();
    }
    add_range(open.back(), first->time_ns, RangeStyle::PushPop, false, trace);
    open.pop_back();
  }
  summary.aside(KinetoAside::Unclosed, open.size());
  for (const Ordered& edge : open) add_range(edge, last_ns, RangeStyle::PushPop, true, trace);
}

// An end closes the latest open range of its name, else the latest of any name.
void KinetoRangePairs::close_async(Iterator first, Iterator last, int64_t last_ns, Trace& trace,
                                   KinetoSummary& summary) {
  constexpr size_t kNearest = 64;  // open ranges that are compared: the search must not become quadratic
  std::vector<Ordered> open;
  for (; first != last; ++first) {
    if (first->edge == KinetoEdgeKind::AsyncBegin) {
      open.push_back(*first);
      continue;
    }
    if (open.empty()) {
      summary.aside(KinetoAside::EndWithoutBegin);
      continue;
    }
    const auto from = open.end() - static_cast<ptrdiff_t>(std::min(open.size(), kNearest));
    auto match = open.end() - 1;
    for (auto each = open.end(); each != from;) {
      if ((--each)->label == first->label) {
        match = each;
        break;
      }
    }
    add_range(*match, first->time_ns, RangeStyle::StartEnd, false, trace);
    open.erase(match);
  }
  summary.aside(KinetoAside::Unclosed, open.size());
  for (const Ordered& edge : open) add_range(edge, last_ns, RangeStyle::StartEnd, true, trace);
}

}  // namespace prof::analyzer
