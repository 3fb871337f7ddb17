// Which range encloses which, where begin and end of each are known: parent, level, children and path of nested ranges.
// NVTX nests within its domain, the rest within the thread; a partial overlap is no child.
//
// Each nest has a stack of ranges that may enclose the next one. A range that ends before the new one does never encloses
// anything again that the new one does not enclose more closely, so it goes: ends never grow towards the top, and what
// encloses a range is the top. O(1) a range, amortised, whatever crosses or nests.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

class RangeNesting {
 public:
  explicit RangeNesting(Trace& trace) : trace_(trace) {}

  // The push/pop ranges of one thread, sorted by begin, an enclosing one first.
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
