// What torch.autograd.profiler.emit_nvtx() writes behind the name of an operator: "aten::mm, seq = 12, op_id = 34, sizes =
// [[2, 3], [3, 4]]". The numbers make every text unique, so anything that groups ranges by name takes them off first.
#pragma once

#include <cstdint>
#include <string_view>

namespace prof::analyzer {

// Views into the text given. Numbers are -1 where the text has none, or one that does not fit.
struct RangeText {
  std::string_view name;
  int64_t sequence = -1;  // ", seq = N", or ", stashed seq = N" of a backward operator in old releases
  bool stashed = false;
  int64_t op_id = -1;
  std::string_view sizes;  // "[[2, 3], [3, 4]]"
};

// Only what stands at the end of the text, in any order, each part once or more; a comma inside a name stays. O(length).
RangeText parse_range_text(std::string_view text);

// The name alone.
std::string_view plain_range_text(std::string_view text);

}  // namespace prof::analyzer
