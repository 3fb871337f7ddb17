// Which range encloses which, if start and end of each are known? Sets parent, level, children and path of nested
// ranges. NVTX ranges nest within their domain, other ranges within the thread. A partial overlap is no nesting.
//
// Each nest has a stack of ranges that may enclose the next one. A range that ends before the new one is removed: it
// cannot enclose a later range that the new one does not enclose more closely. So ends never increase towards the top,
// and the top encloses the new range. O(1) per range, amortised, for any crossing and nesting.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

class RangeNesting {
 public:
  explicit RangeNesting(Trace& trace) : trace_(trace) {}

  // The push/pop ranges of one thread, sorted by start, enclosing ones first.
  void run(Rows rows);

 private:
  uint64_t nest(const Range& range) const;
  void drop_ended(std::vector<uint32_t>& stack, int64_t end_ns) const;
  void set_path(Range& range, uint32_t row);
  PathId child(PathId parent, LabelId label);

  Trace& trace_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> stacks_;  // nest -> ranges that may enclose the next one
  std::vector<uint32_t> path_stack_;
  std::unordered_map<uint64_t, uint32_t> paths_;
};

}  // namespace prof::analyzer
