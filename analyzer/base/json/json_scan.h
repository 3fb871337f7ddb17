// Where does a JSON value end, and is it well-formed? A scanner over bytes in memory for code that copies values as
// text. It builds nothing, does not recurse (20 MB of "[" are harmless) and reads each byte once. It accepts what other
// tools write instead of JSON if the meaning is clear, and notes it. strict_json() repairs it:
//   strings   backslashes that nobody escaped ("torch\cuda"), control characters except a line break, half a surrogate.
//             Only repaired_json() also accepts such a backslash at the end of a string ("C:\logs\")
//   values    numbers and words as Python and printf spell them (nan, -inf, None, True, +1, .5, 1., 007, 0x7f), nothing
//   commas    one too many before a closing bracket
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
  // The value of a member, after its colon. If it is missing, the position itself.
  const char* member_value(const char* at) { return is_missing(at) ? noted(at) : value(at); }
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
  const char* literal(const char* at, std::string_view word);
  const char* scalar(const char* at);
  const char* word(const char* at);
  const char* unicode_escape(const char* at);
  static bool is_missing(const char* at) { return *at == ',' || *at == '}'; }
  const char* noted(const char* at) {
    not_strict_ = true;
    return at;
  }

  const char* end_ = nullptr;
  const char* failed_at_ = nullptr;
  bool not_strict_ = false;
  std::vector<bool> open_;  // true: an object
};

// The same value for strict readers. `value` must be well-formed according to JsonScan.
//   strings   if one escape of a string is invalid, nobody escaped its backslashes: all of them are characters, except
//             before a quote or a backslash. Bytes that are not UTF-8 become the text \xNN
//   values    numbers in the spelling of JSON (007 is 7, 0x7f is 127), True and False; every other word, and a missing
//             value, becomes null
std::string strict_json(std::string_view value);

// strict_json() of a text that need not be well-formed; empty: JsonScan does not accept it, from `failed_at` on.
std::string repaired_json(std::string_view text, size_t* failed_at = nullptr);

}  // namespace prof::analyzer
