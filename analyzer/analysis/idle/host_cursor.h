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
  // `steps`: incremented for each call, range and segment that is passed, to measure the work.
  HostCursor(const Trace& trace, ThreadId thread, uint64_t* steps = nullptr)
      : trace_(trace),
        steps_(steps),
        next_call_(trace.thread(thread).host.first),
        last_call_(trace.thread(thread).host.last),
        next_range_(trace.thread(thread).ranges.first),
        last_range_(trace.thread(thread).ranges.last) {}

  // Row of the outermost call that contains the moment; kNone if there is none. Moments must not decrease.
  uint32_t call_at(int64_t time_ns) {
    move_to(time_ns);
    return call_;
  }

  // Row of the innermost range that contains the moment; kNone if there is none. Moments must not decrease.
  uint32_t range_at(int64_t time_ns) {
    move_to(time_ns);
    return open_.empty() ? kNone : open_.back();
  }
  // Rows of the last call that had returned at the moment, and of the next one to be entered; kNone: none.
  uint32_t returned_call() const { return returned_; }
  uint32_t next_call() const { return next_call_ < last_call_ ? next_call_ : kNone; }

  // Splits [begin, end) wherever the thread enters or leaves a call or range, and calls visit(from, to, call, range);
  // kNone: in none. Inside a call the range does not change.
  template <class Visit> void walk(int64_t begin_ns, int64_t end_ns, Visit&& visit) {
    for (int64_t now = begin_ns; now < end_ns;) {
      move_to(now);
      step();
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
    if (call_ != kNone && trace_.host[call_].end_ns <= time_ns) {
      returned_ = call_;
      call_ = kNone;
    }
    for (; next_call_ < last_call_ && trace_.host[next_call_].begin_ns <= time_ns; ++next_call_, step()) {
      if (call_ != kNone) continue;
      (trace_.host[next_call_].end_ns > time_ns ? call_ : returned_) = next_call_;
    }
    for (; next_range_ < last_range_ && trace_.ranges[next_range_].begin_ns <= time_ns; ++next_range_, step()) {
      const int64_t begin_ns = trace_.ranges[next_range_].begin_ns;
      while (!open_.empty() && trace_.ranges[open_.back()].end_ns <= begin_ns) open_.pop_back();
      if (trace_.ranges[next_range_].end_ns > begin_ns) open_.push_back(next_range_);
    }
    while (!open_.empty() && trace_.ranges[open_.back()].end_ns <= time_ns) open_.pop_back();
  }

  void step() {
    if (steps_ != nullptr) ++*steps_;
  }

  const Trace& trace_;
  uint64_t* steps_;
  uint32_t next_call_, last_call_;
  uint32_t next_range_, last_range_;
  uint32_t call_ = kNone, returned_ = kNone;
  std::vector<uint32_t> open_;
};

}  // namespace prof::analyzer
