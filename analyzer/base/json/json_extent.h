// Where does a JSON value end? Counts brackets outside strings and reads nothing else: so a value of any
// length and depth is passed by. Knows how to go on in the next stretch of a text.
#pragma once

#include <cstddef>
#include <cstdint>

namespace prof::analyzer {

struct JsonPlace {
  uint32_t begin = 0, end = 0;  // bytes of a stretch of text
};

// A value that begins with { or [ or ".
class JsonExtent {
 public:
  void start() { *this = JsonExtent(); }
  // The byte after the value, which began at or before `p`; null: it goes on behind `end`.
  const char* find_end(const char* p, const char* end);
  uint64_t depth() const { return depth_; }

 private:
  const char* end_string(const char* p, const char* end);

  uint64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

// The byte after the value at `p`, of any kind; null: it does not end before `end`. A number or word ends at the first byte
// that cannot belong to it.
const char* json_value_end(const char* p, const char* end);

inline bool is_json_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace prof::analyzer
