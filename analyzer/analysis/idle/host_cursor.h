// What was a thread doing? Walks a thread's calls and ranges forward in time. For each moment it has the outermost call
// and the innermost range. Used to find the culprit of a late launch. O(1) per step, amortised.
#pragma once

#include "analyzer/model/trace.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace prof::analyzer {

class HostCursor {
 public:
  HostCursor(const Trace& trace, ThreadId thread)
      : trace_(trace),
        next_call_(trace.thread(thread).host.first),
        last_call_(trace.thread(thread).host.last),
        next_range_(trace.thread(thread).ranges.first),
        last_range_(trace.thread(thread).ranges.last) {}

  // Row of the outermost call that contains the moment; kNone if there is none. Moments must not decrease.
  uint32_t call_at(int64_t time_ns) {
    move_to(time_ns);
    return call_;
  }

  // Splits [begin, end) wherever the thread enters or leaves a call or range, and calls visit(from, to, call, range);
  // kNone: in none. Inside a call the range does not change.
  template <class Visit> void walk(int64_t begin_ns, int64_t end_ns, Visit&& visit) {
    for (int64_t now = begin_ns; now < end_ns;) {
      move_to(now);
      int64_t until = end_ns;
      if (call_ != kNone) {
        until = std::min(until, trace_.host[call_].end_ns);
      } else {
        if (next_call_ < last_call_) until = std::min(until, trace_.host[next_call_].begin_ns);
        if (next_range_ < last_range_) until = std::min(until, trace_.ranges[next_range_].begin_ns);
        if (!open_.empty()) until = std::min(until, trace_.ranges[open_.back()].end_ns);
      }
      visit(now, until, call_, open_.empty() ? kNone : open_.back());
      now = until;
    }
  }

 private:
  void move_to(int64_t time_ns) {
    if (call_ != kNone && trace_.host[call_].end_ns <= time_ns) call_ = kNone;
    for (; next_call_ < last_call_ && trace_.host[next_call_].begin_ns <= time_ns; ++next_call_) {
      if (call_ == kNone && trace_.host[next_call_].end_ns > time_ns) call_ = next_call_;
    }
    for (; next_range_ < last_range_ && trace_.ranges[next_range_].begin_ns <= time_ns; ++next_range_) {
      const int64_t begin_ns = trace_.ranges[next_range_].begin_ns;
      while (!open_.empty() && trace_.ranges[open_.back()].end_ns <= begin_ns) open_.pop_back();
      if (trace_.ranges[next_range_].end_ns > begin_ns) open_.push_back(next_range_);
    }
    while (!open_.empty() && trace_.ranges[open_.back()].end_ns <= time_ns) open_.pop_back();
  }

  const Trace& trace_;
  uint32_t next_call_, last_call_;
  uint32_t next_range_, last_range_;
  uint32_t call_ = kNone;
  std::vector<uint32_t> open_;
};

}  // namespace prof::analyzer
