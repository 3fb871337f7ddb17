// Writes JSON for millions of events: numbers with own routines; every text with quotes or escapes is created once by
// RapidJSON and then copied. Used by the Chrome trace and JSON tables. Strings of the recorded program may contain any
// bytes. Bytes that are not UTF-8 become the text \xNN, so the JSON is valid and names stay readable. Characters that
// change how the text around them is shown are never written as such.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace prof::analyzer {

// Bytes of the well-formed UTF-8 character at the front (Unicode 15, table 3-7); 0 if there is none.
size_t utf8_length(std::string_view text);

// The number of the character at the front if it is not visible and controls the text around it: its direction
// (U+202E …), the terminal (U+0080 to U+009F), the line (U+2028, U+2029). Else 0. `length`: utf8_length() of the
// text.
uint32_t invisible_control(std::string_view text, size_t length);

// The same text in valid UTF-8 for people: every byte that belongs to no character, and every control character,
// becomes the four characters \xNN, and every invisible control character the six characters \uNNNN.
std::string readable_utf8(std::string_view text);

// The text if it has at most `most` characters, else its start with … at the end.
std::string cut_text(std::string text, size_t most);

// Lines for people, each readable_utf8() and of at most `most` characters.
std::string readable_lines(std::string_view text, size_t most = 10'000);

// The text as a JSON string with its quotes. Invisible control characters are escaped and remain in the value.
std::string json_string(std::string_view text);

// What is between the quotes of a JSON string, escapes as they are; other values as they are.
inline std::string_view unquoted(std::string_view json) {
  return json.size() >= 2 && json.front() == '"' && json.back() == '"' ? json.substr(1, json.size() - 2) : json;
}

// Number of decimal digits, 1 to 20.
inline size_t decimal_digits(uint64_t value) {
  static constexpr std::array<uint64_t, 20> kPowers = [] {
    std::array<uint64_t, 20> powers{};  // 0 has one digit, too
    for (uint64_t i = 1, power = 10; i < 20; ++i, power *= 10) powers[i] = power;
    return powers;
  }();
  const auto about = static_cast<size_t>(std::bit_width(value | 1)) * 1233 >> 12;  // log10(2) = 1233 / 4096
  return about + (value >= kPowers[about] ? 1 : 0);
}

// Writes the decimal digits of `value` and returns the byte after them (at most 20).
char* put_decimal(char* to, uint64_t value);

inline char* put_signed(char* to, int64_t value) {
  if (value >= 0) return put_decimal(to, static_cast<uint64_t>(value));
  *to++ = '-';
  return put_decimal(to, 0 - static_cast<uint64_t>(value));
}

// Nanoseconds as microseconds with three decimals: 1234567 -> 1234.567 (at most 22 bytes).
inline char* put_micros(char* to, int64_t ns) {
  uint64_t magnitude = static_cast<uint64_t>(ns);
  if (ns < 0) {
    *to++ = '-';
    magnitude = 0 - magnitude;
  }
  to = put_decimal(to, magnitude / 1000);
  const uint32_t fraction = static_cast<uint32_t>(magnitude % 1000);
  to[0] = '.';
  to[1] = static_cast<char>('0' + fraction / 100);
  to[2] = static_cast<char>('0' + fraction / 10 % 10);
  to[3] = static_cast<char>('0' + fraction % 10);
  return to + 4;
}

inline char* put_bytes(char* to, std::string_view bytes) {
  std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

// A finite number in the shortest form that reads back as the same number; at most 32 bytes.
char* put_double(char* to, double value);

}  // namespace prof::analyzer
