// Where does a JSON value end, and is it well-formed? A scanner over bytes in memory for code that copies values as text:
// it builds nothing, calls itself never (20 MB of "[" are no harm) and looks at each byte once. What RapidJSON's reader takes
// beyond the standard for other tools' traces is taken here too and noted: NaN, Infinity, a comma before a closing
// bracket. Raw control characters in strings are errors, as they are there.
//
// The bytes must be followed by kJsonPadding zero bytes: a zero byte outside the value tells the scanner that it is at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

inline constexpr size_t kJsonPadding = 64;

inline const char* skip_json_space(const char* at) {
  while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t') ++at;
  return at;
}

class JsonScan {
 public:
  // The end of all bytes there are: a zero byte there, and not before, means "more is needed".
  void set_end(const char* end) { end_ = end; }

  // Each takes a place at the first byte of its subject and gives the place behind it, or null: then failed_at() says where, and
  // failed_at() == end means that the text stops too early.
  const char* value(const char* at);
  const char* string(const char* at);
  const char* fail(const char* at) {
    failed_at_ = at;
    return nullptr;
  }

  const char* failed_at() const { return failed_at_; }
  bool needs_more() const { return failed_at_ >= end_; }

  // Since clear_notes(): something strict readers refuse was seen.
  bool not_strict() const { return not_strict_; }
  void note_not_strict() { not_strict_ = true; }
  void clear_notes() { not_strict_ = false; }

 private:
  const char* number(const char* at);
  const char* literal(const char* at, std::string_view word, bool strict);
  const char* scalar(const char* at);

  const char* end_ = nullptr;
  const char* failed_at_ = nullptr;
  bool not_strict_ = false;
  std::vector<bool> open_;  // true: an object
};

// The same value for strict readers: NaN and infinities become null, commas before a closing bracket go, bytes that are no UTF-8
// become the text \xNN. `value` is well-formed as JsonScan has it.
std::string strict_json(std::string_view value);

}  // namespace prof::analyzer
