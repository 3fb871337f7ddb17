// Which library calls of a trace have a cost (library_cost.h), and which of them contains a moment of a thread? Called
// by KernelCosts.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

// The library calls of a trace that have a cost. If calls are nested, the outermost counts.
class LibraryCalls {
 public:
  explicit LibraryCalls(const Trace& trace);

  bool any() const { return any_; }
  bool is_call(const Range& range) const { return of_library_[index(range.label)]; }
  // Row of Trace::ranges: the call that the thread is in at that time; kNone: no call.
  uint32_t around(ThreadId thread, int64_t time_ns) const;
  // For each call that is true in `calls` (by row of Trace::ranges), sets the ranges around it in `encloses`.
  void mark_around(const std::vector<bool>& calls, std::vector<bool>& encloses) const;

 private:
  const Trace& trace_;
  std::vector<bool> of_library_;              // by LabelId
  std::vector<std::vector<uint32_t>> calls_;  // by ThreadId: rows of Trace::ranges, in order of time
  bool any_ = false;
};

}  // namespace prof::analyzer
