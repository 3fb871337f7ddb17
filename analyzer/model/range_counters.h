// Which numbers in the names of ranges only count repetitions ("step 7", "epoch 1 batch 7")? A counter does not
// decrease along a thread below one parent, and has a new value in nearly every repetition of that parent. An index (of
// a layer, a block, a shape) returns in each step and is no counter. Tables that group ranges by name, and `prof diff`,
// put `*` in the place of counters. Definitions: docs/reports/nvtx.md.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// torch.profiler's steps: their numbers are always removed, as in torch.autograd.profiler's tables.
inline constexpr std::string_view kProfilerStep = "ProfilerStep#", kAnyProfilerStep = "ProfilerStep*";

struct FoldedRanges {
  std::string name;             // "step *"
  uint64_t texts = 0;           // different texts that have this name
  uint64_t ranges = 0;          // all ranges with such a text
  uint16_t level = UINT16_MAX;  // of the outermost of them; start/end ranges: 0
};

class RangeCounters {
 public:
  // Reads NVTX ranges and annotations; other ranges have names of code. O(ranges).
  explicit RangeCounters(const Trace& trace);

  // "step *" for "step 7"; empty if the text has no counter.
  std::string_view name_of(LabelId label) const;
  // The row of folded() of a label; kNone if its text has no counter.
  uint32_t folded_as(LabelId label) const { return of_label_[index(label)]; }
  // In order of the first label.
  const std::vector<FoldedRanges>& folded() const { return folded_; }
  // The row of folded() whose ranges are the steps of the program: the outermost with eight or more ranges, else the
  // one with most ranges; kNone if no range has a counter.
  uint32_t steps() const;

 private:
  std::vector<uint32_t> of_label_;  // by LabelId
  std::vector<FoldedRanges> folded_;
};

// The note of a table whose ranges are folded: "counters in range names are folded: step * (20 texts), …"; empty if
// none is.
std::string folded_note(const std::vector<FoldedRanges>& folded);

}  // namespace prof::analyzer
