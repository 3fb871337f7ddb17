#include "analyzer/model/trace.h"

#include <algorithm>

namespace prof::analyzer {

std::string path_text(const Trace& trace, PathId path) {
  std::vector<PathId> chain;
  for (; index(path) != 0; path = trace.paths[index(path)].parent) chain.push_back(path);
  std::string text;
  for (auto node = chain.rbegin(); node != chain.rend(); ++node) {
    const Label& label = trace.labels[index(trace.paths[index(*node)].label)];
    if (!text.empty()) text += '/';
    if (index(label.domain) != 0) (text += trace.text(label.domain)) += ':';
    text += trace.text(label.text);
  }
  return text;
}

PathCursor::PathCursor(const Trace& trace, ThreadId thread)
    : first_(trace.path_changes.data() + trace.thread(thread).path_changes.first),
      last_(trace.path_changes.data() + trace.thread(thread).path_changes.last),
      next_(first_) {}

PathId PathCursor::at(int64_t time_ns) {
  if (next_ != first_ && next_[-1].time_ns > time_ns) {
    next_ = std::upper_bound(first_, next_, time_ns, [](int64_t t, const PathChange& c) { return t < c.time_ns; });
  }
  while (next_ != last_ && next_->time_ns <= time_ns) ++next_;
  return next_ == first_ ? PathId{} : next_[-1].path;
}

}  // namespace prof::analyzer
