#include "analyzer/model/trace.h"

#include <algorithm>

namespace prof::analyzer {

uint64_t Process::counter(format::LossCounter counter) const {
  const std::string_view name = format::counter_info(counter).name;
  for (const CounterValue& each : counters) {
    if (each.name == name) return each.value;
  }
  return 0;
}

void Process::count(format::LossCounter counter, uint64_t value) {
  if (value == 0) return;
  const format::CounterInfo& info = format::counter_info(counter);
  for (CounterValue& each : counters) {
    if (each.name == info.name) {
      each.value += value;
      return;
    }
  }
  counters.push_back({std::string(info.name), value, info.severity});
}

bool Process::lost(format::Missing missing) const {
  return std::any_of(counters.begin(), counters.end(), [missing](const CounterValue& each) {
    const format::CounterInfo* const info = format::find_counter(each.name);
    return info != nullptr && info->missing == missing;
  });
}

const CallDetails* Trace::arguments_of(uint32_t host_row) const {
  const auto found = std::lower_bound(call_arguments.begin(), call_arguments.end(), host_row,
                                      [](const CallDetails& said, uint32_t row) { return said.call < row; });
  return found != call_arguments.end() && found->call == host_row ? &*found : nullptr;
}

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

RangeCursor::RangeCursor(const Trace& trace, ThreadId thread)
    : trace_(trace), rows_(trace.thread(thread).ranges), next_(rows_.first) {}

uint32_t RangeCursor::at(int64_t time_ns, bool with_python) {
  if (time_ns < last_ns_) {
    open_.clear();
    next_ = rows_.first;
  }
  last_ns_ = time_ns;
  for (; next_ < rows_.last && trace_.ranges[next_].begin_ns <= time_ns; ++next_) {
    const int64_t begin_ns = trace_.ranges[next_].begin_ns;
    while (!open_.empty() && trace_.ranges[open_.back()].end_ns <= begin_ns) open_.pop_back();
    open_.push_back(next_);
  }
  while (!open_.empty() && trace_.ranges[open_.back()].end_ns <= time_ns) open_.pop_back();
  for (size_t i = open_.size(); i-- > 0;) {  // a range that overlaps its successor may have ended below it
    const Range& range = trace_.ranges[open_[i]];
    if (range.end_ns > time_ns && (with_python || range.kind != RangeKind::Python)) return open_[i];
  }
  return kNone;
}

PathCursor::PathCursor(const Trace& trace, ThreadId thread)
    : trace_(trace),
      ranges_(trace, thread),
      first_(trace.path_changes.data() + trace.thread(thread).path_changes.first),
      last_(trace.path_changes.data() + trace.thread(thread).path_changes.last),
      next_(first_) {}

PathId PathCursor::at(int64_t time_ns) {
  if (first_ == last_) {
    const uint32_t range = ranges_.at(time_ns);
    return range == kNone ? PathId{} : trace_.ranges[range].path;
  }
  if (next_ != first_ && next_[-1].time_ns > time_ns) {
    next_ = std::upper_bound(first_, next_, time_ns, [](int64_t t, const PathChange& c) { return t < c.time_ns; });
  }
  while (next_ != last_ && next_->time_ns <= time_ns) ++next_;
  return next_ == first_ ? PathId{} : next_[-1].path;
}

}  // namespace prof::analyzer
