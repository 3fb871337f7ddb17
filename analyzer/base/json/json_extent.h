// Where does a JSON value end? Counts brackets outside strings and reads nothing else, so values of any length and
// depth can be skipped. The scan can continue in the next block of the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prof::analyzer {

struct JsonPlace {
  uint32_t begin = 0, end = 0;  // byte offsets in a block of text
};

// Finds the end of a value that begins with { or [ or ".
class JsonExtent {
 public:
  void start() { *this = JsonExtent(); }
  // The byte after the value, which began at or before `p`; null: the value continues after `end`.
  const char* find_end(const char* p, const char* end);
  uint64_t depth() const { return depth_; }

 private:
  const char* end_string(const char* p, const char* end);

  uint64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

// The byte after the value of any kind at `p`; null: it does not end before `end`. A number or word ends at the first
// byte that cannot belong to it.
const char* json_value_end(const char* p, const char* end);

inline bool is_json_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Length of the UTF-8 byte order mark that the text begins with: 3, or 0 where there is none. Other tools' JSON files
// may have one.
inline size_t byte_order_mark_bytes(std::string_view text) { return text.starts_with("\xef\xbb\xbf") ? 3 : 0; }

// The text from its first byte that is neither part of a byte order mark nor blank.
std::string_view json_document(std::string_view text);

// The text begins, after a byte order mark and blanks, as an object or an array.
bool is_json_document(std::string_view text);

}  // namespace prof::analyzer
