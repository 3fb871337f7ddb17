// See range_nesting.h.
#include "analyzer/model/range_nesting.h"

#include <algorithm>

namespace prof::analyzer {

void RangeNesting::run(Rows rows) {
  stacks_.clear();
  path_stack_.clear();
  for (uint32_t row = rows.first; row < rows.last; ++row) {
    Range& range = trace_.ranges[row];
    std::vector<uint32_t>& stack = stacks_[nest(range)];
    drop_ended(stack, range.end_ns);
    if (!stack.empty()) {
      Range& outer = trace_.ranges[stack.back()];
      range.parent = stack.back();
      range.level = static_cast<uint16_t>(std::min<uint32_t>(outer.level + 1u, UINT16_MAX));
      if (outer.children < UINT16_MAX) ++outer.children;
    }
    stack.push_back(row);
    set_path(range, row);
  }
}

// 0: everything except NVTX; else the domain.
uint64_t RangeNesting::nest(const Range& range) const {
  constexpr uint64_t kNvtx = uint64_t{1} << 32;
  return range.kind == RangeKind::Nvtx ? kNvtx | index(trace_.labels[index(range.label)].domain) : 0;
}

void RangeNesting::drop_ended(std::vector<uint32_t>& stack, int64_t end_ns) const {
  while (!stack.empty() && trace_.ranges[stack.back()].end_ns < end_ns) stack.pop_back();
}

// A Python function has the path of the ranges around it. It is not part of any path.
void RangeNesting::set_path(Range& range, uint32_t row) {
  if (range.kind == RangeKind::Python) {
    const auto shorter = std::partition_point(path_stack_.begin(), path_stack_.end(), [&](uint32_t outer) {
      return trace_.ranges[outer].end_ns >= range.end_ns;
    });
    range.path = shorter == path_stack_.begin() ? PathId{} : trace_.ranges[*(shorter - 1)].path;
    return;
  }
  drop_ended(path_stack_, range.end_ns);
  const PathId path = path_stack_.empty() ? PathId{} : trace_.ranges[path_stack_.back()].path;
  range.path = range.kind == RangeKind::Overhead ? path : child(path, range.label);
  path_stack_.push_back(row);
}

PathId RangeNesting::child(PathId parent, LabelId label) {
  const uint64_t key = uint64_t{index(parent)} << 32 | index(label);
  const auto [found, added] = paths_.try_emplace(key, static_cast<uint32_t>(trace_.paths.size()));
  if (added) trace_.paths.push_back({parent, label});
  return PathId{found->second};
}

}  // namespace prof::analyzer
