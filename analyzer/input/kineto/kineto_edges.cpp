// Ranges whose begin and end are events of their own: B and E nest on their thread, b and e are tied by their id.
#include "analyzer/input/kineto/kineto_model.h"

#include <algorithm>

namespace prof::analyzer {

void KinetoModel::add_range(const Edge& begin, int64_t end_ns, RangeStyle style, bool unfinished) {
  Range row;
  row.begin_ns = begin.time_ns;
  row.end_ns = std::max(begin.time_ns, end_ns);
  row.payload = begin.detail;
  row.thread = ThreadId{begin.thread};
  row.label = LabelId{begin.label};
  row.style = style;
  row.kind = begin.kind;
  row.unfinished = unfinished;
  row.path = PathId{begin.order};
  trace_.ranges.push_back(row);
}

void KinetoModel::close_edges() {
  // Together: the async ones of one id, then the nested ones of one thread; each by time, equal times as in the file.
  std::sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) {
    if (a.key != b.key) return a.key < b.key;
    if (a.key == 0 && a.thread != b.thread) return a.thread < b.thread;
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.order < b.order;
  });
  for (auto first = edges_.begin(); first != edges_.end();) {
    const auto last = std::find_if(first, edges_.end(), [&](const Edge& edge) {
      return edge.key != first->key || (edge.key == 0 && edge.thread != first->thread);
    });
    first->key == 0 ? close_nested(first, last) : close_async(first, last);
    first = last;
  }
  edges_.clear();
  edges_.shrink_to_fit();
}

void KinetoModel::close_nested(std::vector<Edge>::iterator first, std::vector<Edge>::iterator last) {
  std::vector<Edge> open;
  for (; first != last; ++first) {
    if (first->phase == 'B') {
      open.push_back(*first);
    } else if (open.empty()) {
      aside(KinetoAside::EndWithoutBegin);
    } else {
      add_range(open.back(), first->time_ns, RangeStyle::PushPop, false);
      open.pop_back();
    }
  }
  aside(KinetoAside::Unclosed, open.size());
  for (const Edge& edge : open) add_range(edge, last_ns_, RangeStyle::PushPop, true);
}

// Ranges of one id nest by name: an end closes the latest open one of its name, else the latest of any.
void KinetoModel::close_async(std::vector<Edge>::iterator first, std::vector<Edge>::iterator last) {
  constexpr size_t kNearest = 64;  // a name further down is not looked for
  std::vector<Edge> open;
  for (; first != last; ++first) {
    if (first->phase == 'b') {
      open.push_back(*first);
      continue;
    }
    if (open.empty()) {
      aside(KinetoAside::EndWithoutBegin);
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
    add_range(*match, first->time_ns, RangeStyle::StartEnd, false);
    open.erase(match);
  }
  aside(KinetoAside::Unclosed, open.size());
  for (const Edge& edge : open) add_range(edge, last_ns_, RangeStyle::StartEnd, true);
}

}  // namespace prof::analyzer
