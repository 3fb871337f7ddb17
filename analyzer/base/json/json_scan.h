// Where does a JSON value end, and is it well-formed? A scanner over bytes in memory for code that copies values as
// text. It builds nothing, does not recurse (20 MB of "[" are harmless) and reads each byte once. It accepts the
// extensions of RapidJSON's reader for other tools' traces and notes them: NaN, Infinity, a comma before a closing
// bracket. Raw control characters in strings are errors, as in RapidJSON.
//
// The bytes must be followed by kJsonPadding zero bytes: a zero byte outside the value marks the end.
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
  // The end of the available bytes. A zero byte there, and only there, means that more bytes are needed.
  void set_end(const char* end) { end_ = end; }

  // Each function takes the position of the first byte of its subject and returns the position after it, or null. If
  // null, failed_at() is the position of the error, and failed_at() == end means that the text ends too early.
  const char* value(const char* at);
  const char* string(const char* at);
  const char* fail(const char* at) {
    failed_at_ = at;
    return nullptr;
  }

  const char* failed_at() const { return failed_at_; }
  bool needs_more() const { return failed_at_ >= end_; }

  // Whether a construct was seen since clear_notes() that strict readers reject.
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

// The same value for strict readers: NaN and infinities become null, commas before a closing bracket are removed, and
// bytes that are not UTF-8 become the text \xNN. `value` must be well-formed according to JsonScan.
std::string strict_json(std::string_view value);

}  // namespace prof::analyzer
