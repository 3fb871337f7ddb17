// Parses what torch.autograd.profiler.emit_nvtx() appends to the name of an operator: "aten::mm, seq = 12, op_id = 34,
// sizes = [[2, 3], [3, 4]]". These numbers make every text unique, so everything that groups ranges by name removes
// them first.
#pragma once

#include <cstdint>
#include <string_view>

namespace prof::analyzer {

// Views into the given text. A number is -1 if the text has none, or one that does not fit.
struct RangeText {
  std::string_view name;
  int64_t sequence = -1;  // ", seq = N", or ", stashed seq = N" of a backward operator in old releases
  bool stashed = false;
  int64_t op_id = -1;
  std::string_view sizes;  // "[[2, 3], [3, 4]]"
};

// Parses parts at the end of the text, in any order, each once or more. A comma inside a name remains. O(length).
RangeText parse_range_text(std::string_view text);

// Only the name.
std::string_view plain_range_text(std::string_view text);

}  // namespace prof::analyzer
