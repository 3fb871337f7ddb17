#include "analyzer/base/json/json_scan.h"

#include "analyzer/base/json/json_decimal.h"
#include "analyzer/base/json/json_quotes.h"
#include "analyzer/base/json/json_text.h"

#include <cstring>
#include <string>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace prof::analyzer {

namespace {

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Bytes of a number or word of whatever spelling: "-1.#IND", "nan(0x8)", "0x7f".
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '+' || c == '-' ||
         c == '_' || c == '#' || c == '(' || c == ')';
}

bool is_delimiter(char c) {
  return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == 0;
}

// The number of the escape \uXXXX at `at`; −1: it is none.
int32_t code_unit(std::string_view text, size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return -1;
  int32_t unit = 0;
  for (size_t i = at + 2; i < at + 6; ++i) {
    if (!is_hex(text[i])) return -1;
    unit = unit << 4 | (is_digit(text[i]) ? text[i] - '0' : (text[i] | 0x20) - 'a' + 10);
  }
  return unit;
}

bool is_high_surrogate(int32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool is_low_surrogate(int32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

}  // namespace

// The escape \u… at `at`.
const char* JsonScan::unicode_escape(const char* at) {
  for (int i = 2; i < 6; ++i) {
    if (is_hex(at[i])) continue;
    return at[i] == 0 && at + i >= end_ ? fail(at + i) : noted(at + 2);
  }
  const int32_t unit = code_unit({at, 6}, 0);
  if (is_low_surrogate(unit)) return noted(at + 6);
  if (!is_high_surrogate(unit)) return at + 6;
  for (int i = 6; i < 12; ++i) {
    if (at + i >= end_) return fail(end_);
    if (i == 6 ? at[i] != '\\' : i == 7 ? at[i] != 'u' : !is_hex(at[i])) return noted(at + 6);
  }
  return is_low_surrogate(code_unit({at + 6, 6}, 0)) ? at + 12 : noted(at + 6);
}

const char* JsonScan::string(const char* at) {
  ++at;
  for (;;) {
#ifdef __SSE2__
    for (;;) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      const __m128i stops = _mm_or_si128(
          _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
          _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes));
      // Bytes of 0x80 and more are checked again by strict_json(), which distinguishes UTF-8 from other bytes.
      const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(stops, bytes)));
      if (found == 0) {
        at += 16;
        continue;
      }
      at += __builtin_ctz(found);
      break;
    }
#endif
    const auto byte = static_cast<uint8_t>(*at);
    if (byte == '"') return at + 1;
    if (byte == '\\') {
      const char escaped = at[1];
      if (escaped == 'u') {
        if ((at = unicode_escape(at)) == nullptr) return nullptr;
      } else if (escaped == '\n' || escaped == 0) {
        return fail(at + 1);
      } else {
        if (std::strchr("\"\\/bfnrt", escaped) == nullptr) not_strict_ = true;
        at += 2;
      }
    } else if (byte == '\n' || byte == 0) {
      return fail(at);
    } else if (byte < 0x20) {
      not_strict_ = true;
      ++at;
    } else if (byte < 0x80) {
      ++at;
    } else {
      const size_t length = utf8_length({at, 4});
      if (length == 0) not_strict_ = true;
      at += length == 0 ? 1 : length;
    }
  }
}

const char* JsonScan::number(const char* at) {
  if (*at == '-') ++at;
  if (!is_digit(*at)) return fail(at);
  if (*at == '0') {
    ++at;
  } else {
    while (is_digit(*at)) ++at;
  }
  if (*at == '.') {
    ++at;
    if (!is_digit(*at)) return fail(at);
    while (is_digit(*at)) ++at;
  }
  if (*at == 'e' || *at == 'E') {
    ++at;
    if (*at == '+' || *at == '-') ++at;
    if (!is_digit(*at)) return fail(at);
    while (is_digit(*at)) ++at;
  }
  // A number at the end of the bytes read so far may continue.
  return at == end_ || !is_delimiter(*at) ? fail(at) : at;
}

const char* JsonScan::literal(const char* at, std::string_view word) {
  for (const char expected : word) {
    if (*at != expected) return fail(at);
    ++at;
  }
  return is_word(*at) ? fail(at) : at;
}

// A number or word that is no JSON.
const char* JsonScan::word(const char* at) {
  const char* const begin = at;
  while (is_word(*at)) ++at;
  if (at == begin || at == end_ || !is_delimiter(*at)) return fail(at);
  return noted(at);
}

const char* JsonScan::scalar(const char* at) {
  const char* after = nullptr;
  switch (*at) {
    case '"': return string(at);
    case 't': after = literal(at, "true"); break;
    case 'f': after = literal(at, "false"); break;
    case 'n': after = literal(at, "null"); break;
    default: after = number(at); break;
  }
  return after != nullptr || needs_more() ? after : word(at);
}

const char* JsonScan::value(const char* at) {
  if (*at != '{' && *at != '[') return scalar(at);
  open_.clear();
  for (;;) {
    if (*at == '{' || *at == '[') {
      open_.push_back(*at == '{');
      at = skip_json_space(at + 1);
      if (*at != (open_.back() ? '}' : ']')) {
        if (open_.back()) goto key;
        continue;
      }
      // An empty container is closed below like any other.
    } else if (open_.back() && is_missing(at)) {
      noted(at);
    } else {
      if ((at = scalar(at)) == nullptr) return nullptr;
    }
    for (;;) {  // after a value, or at the bracket that closes an empty container
      at = skip_json_space(at);
      if (*at == (open_.back() ? '}' : ']')) {
        open_.pop_back();
        ++at;
        if (open_.empty()) return at;
        continue;
      }
      if (*at != ',') return fail(at);
      at = skip_json_space(at + 1);
      if (*at == (open_.back() ? '}' : ']')) {
        not_strict_ = true;
        continue;
      }
      break;
    }
    if (!open_.back()) continue;
  key:
    if (*at != '"') return fail(at);
    if ((at = string(at)) == nullptr) return nullptr;
    at = skip_json_space(at);
    if (*at != ':') return fail(at);
    at = skip_json_space(at + 1);
  }
}

namespace {

void append_hex(std::string& to, uint8_t byte) {
  constexpr char kHex[] = "0123456789abcdef";
  to += kHex[byte >> 4];
  to += kHex[byte & 15];
}

// Whether a backslash of the text is followed by what no escape begins with: nobody escaped its backslashes.
bool has_unescaped_backslash(std::string_view text) {
  for (size_t i = text.find('\\'); i != std::string_view::npos; i = text.find('\\', i)) {
    const char escaped = i + 1 < text.size() ? text[i + 1] : ' ';
    if (escaped == 'u' ? code_unit(text, i) < 0 : std::strchr("\"\\/bfnrt", escaped) == nullptr) return true;
    i += 2;
  }
  return false;
}

// The text between the quotes of a string.
void append_strict(std::string& strict, std::string_view text) {
  const bool unescaped = has_unescaped_backslash(text);
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<uint8_t>(text[i]);
    const size_t length = utf8_length(text.substr(i, 4));
    if (byte == '\\') {
      const char escaped = i + 1 < text.size() ? text[i + 1] : ' ';
      const int32_t unit = code_unit(text, i);
      const bool pair = is_high_surrogate(unit) && is_low_surrogate(code_unit(text, i + 6));
      const bool half = !pair && (is_high_surrogate(unit) || is_low_surrogate(unit));
      const bool is_character = half || (unescaped && escaped != '"' && escaped != '\\');
      const size_t size = is_character ? 1 : pair ? 12 : unit >= 0 ? 6 : 2;
      if (is_character) strict += '\\';
      strict += text.substr(i, size);
      i += size;
    } else if (byte < 0x20) {
      strict += "\\u00";
      append_hex(strict, byte);
      ++i;
    } else if (length == 0) {
      strict += "\\\\x";
      append_hex(strict, byte);
      ++i;
    } else {
      strict += text.substr(i, length);
      i += length;
    }
  }
}

// Without the zeros in front, of which JSON allows none.
std::string_view without_zeros(std::string_view digits) {
  const size_t first = digits.find_first_not_of('0');
  if (first == std::string_view::npos) return digits.empty() ? "0" : digits.substr(0, 1);
  return digits.substr(first);
}

// A value that is no string in the spelling of JSON; null: it is no number.
std::string strict_word(std::string_view word) {
  if (word == "true" || word == "True") return "true";
  if (word == "false" || word == "False") return "false";
  const bool negative = word.starts_with('-');
  std::string_view rest = word.substr(negative || word.starts_with('+') ? 1 : 0);
  uint64_t hex = 0;
  if (rest.starts_with("0x") || rest.starts_with("0X")) {
    if (to_uint64(rest, hex) != DecimalResult::Ok) return "null";
    std::string number = std::to_string(hex);
    if (negative) number.insert(number.begin(), '-');
    return number;
  }
  const auto take_digits = [&rest] {
    const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
    rest.remove_prefix(digits.size());
    return digits;
  };
  const std::string_view whole = take_digits();
  const bool point = rest.starts_with('.');
  if (point) rest.remove_prefix(1);
  const std::string_view fraction = point ? take_digits() : std::string_view();
  if (whole.empty() && fraction.empty()) return "null";
  std::string number = negative ? "-" : "";
  number += without_zeros(whole);
  if (!fraction.empty()) (number += '.') += fraction;
  if (rest.empty()) return number;
  const std::string_view exponent = rest;
  if (rest.front() != 'e' && rest.front() != 'E') return "null";
  rest.remove_prefix(rest.size() > 1 && (rest[1] == '+' || rest[1] == '-') ? 2 : 1);
  const bool digits = !take_digits().empty();
  return digits && rest.empty() ? number.append(exponent) : "null";
}

}  // namespace

std::string strict_json(std::string_view value) {
  std::string strict;
  strict.reserve(value.size() + 16);
  const auto next_byte = [&](size_t i) {
    while (i < value.size() && std::strchr(" \n\r\t", value[i]) != nullptr) ++i;
    return i < value.size() ? value[i] : '}';
  };
  for (size_t i = 0; i < value.size();) {
    const char c = value[i];
    if (c == '"') {
      const size_t begin = i++;
      while (value[i] != '"') i += value[i] == '\\' ? 2 : 1;
      ++i;
      strict += '"';
      append_strict(strict, value.substr(begin + 1, i - begin - 2));
      strict += '"';
    } else if (c == ',') {
      ++i;
      const char next = next_byte(i);
      if (next != '}' && next != ']') strict += c;
    } else if (is_word(c)) {
      const size_t begin = i;
      while (i < value.size() && is_word(value[i])) ++i;
      strict += strict_word(value.substr(begin, i - begin));
    } else {
      strict += c;
      ++i;
      if (c != ':') continue;
      const char next = next_byte(i);
      if (next == ',' || next == '}') strict += "null";
    }
  }
  return strict;
}

std::string repaired_json(std::string_view text, size_t* failed_at) {
  std::string padded(text);
  padded.append(kJsonPadding, '\0');
  JsonScan scan;
  const char* const end = padded.data() + text.size();
  scan.set_end(end);
  const char* const after = scan.value(padded.data());
  if (after == end) return strict_json(text);
  const char* const failed = after != nullptr ? after : scan.failed_at();
  if (const ClosedValue closed = close_backslash_quotes(padded.data(), end); closed.end == end) {
    std::string repaired = closed.text + std::string(kJsonPadding, '\0');
    scan.set_end(repaired.data() + closed.text.size());
    if (scan.value(repaired.data()) == repaired.data() + closed.text.size()) return strict_json(closed.text);
  }
  if (failed_at != nullptr) *failed_at = static_cast<size_t>(failed - padded.data());
  return {};
}

}  // namespace prof::analyzer
