#include "analyzer/base/json/json_scan.h"

#include "analyzer/base/json/json_decimal.h"
#include "analyzer/base/json/json_text.h"

#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace prof::analyzer {

namespace {

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

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
        for (int i = 2; i < 6; ++i) {
          if (!is_hex(at[i])) return fail(at + i);
        }
        at += 6;
      } else if (escaped != 0 && std::strchr("\"\\/bfnrt", escaped) != nullptr) {
        at += 2;
      } else {
        return fail(at + 1);
      }
    } else if (byte < 0x20) {
      return fail(at);
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
  if (*at == 'I' || *at == 'N') return scalar(at);
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
  return at == end_ ? fail(at) : at;
}

const char* JsonScan::literal(const char* at, std::string_view word, bool strict) {
  for (const char expected : word) {
    if (*at != expected) return fail(at);
    ++at;
  }
  if (!strict) not_strict_ = true;
  return at;
}

const char* JsonScan::scalar(const char* at) {
  switch (*at) {
    case '"': return string(at);
    case 't': return literal(at, "true", true);
    case 'f': return literal(at, "false", true);
    case 'n': return literal(at, "null", true);
    case 'N': return literal(at, "NaN", false);
    case 'I': return std::strncmp(at, "Infin", 5) == 0 ? literal(at, "Infinity", false) : literal(at, "Inf", false);
    default: return number(at);
  }
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

std::string strict_json(std::string_view value) {
  std::string strict;
  strict.reserve(value.size() + 16);
  for (size_t i = 0; i < value.size();) {
    const char c = value[i];
    if (c == '"') {
      const size_t begin = i++;
      while (value[i] != '"') i += value[i] == '\\' ? 2 : 1;
      ++i;
      // Only text between escapes can contain bytes that are not ASCII.
      for (size_t at = begin; at < i;) {
        const size_t length = utf8_length(value.substr(at, 4));
        if (length == 0) {
          constexpr char kHex[] = "0123456789abcdef";
          const auto byte = static_cast<uint8_t>(value[at]);
          strict += "\\\\x";
          strict += kHex[byte >> 4];
          strict += kHex[byte & 15];
        } else {
          strict.append(value, at, length);
        }
        at += length == 0 ? 1 : length;
      }
    } else if (c == ',') {
      size_t next = i + 1;
      while (next < value.size() && std::strchr(" \n\r\t", value[next]) != nullptr) ++next;
      if (next >= value.size() || (value[next] != '}' && value[next] != ']')) strict += c;
      ++i;
    } else if (c == 'N' || c == 'I' ||
               (c == '-' && i + 1 < value.size() && (value[i + 1] == 'I' || value[i + 1] == 'N'))) {
      strict += "null";
      ++i;
      while (i < value.size() && ((value[i] >= 'a' && value[i] <= 'z') || (value[i] >= 'A' && value[i] <= 'Z'))) ++i;
    } else {
      strict += c;
      ++i;
    }
  }
  return strict;
}

}  // namespace prof::analyzer
