#include "analyzer/base/json/json_extent.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>

namespace prof::analyzer {

namespace {

// The first quote or backslash at or after `p`, else `end`.
const char* string_stop(const char* p, const char* end) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
  for (; end - p >= 16; p += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i hits = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
    const auto mask = static_cast<uint32_t>(_mm_movemask_epi8(hits));
    if (mask != 0) return p + std::countr_zero(mask);
  }
#endif
  while (p != end && *p != '"' && *p != '\\') ++p;
  return p;
}

}  // namespace

// The byte after the closing quote; null: it is not before `end`.
const char* JsonExtent::end_string(const char* p, const char* end) {
  if (escaped_ && p != end) {
    ++p;
    escaped_ = false;
  }
  for (p = string_stop(p, end); p != end; p = string_stop(p, end)) {
    if (*p == '"') {
      in_string_ = false;
      return p + 1;
    }
    if (end - p < 2) {
      escaped_ = true;
      return nullptr;
    }
    p += 2;
  }
  return nullptr;
}

const char* JsonExtent::find_end(const char* p, const char* end) {
  while (p != end) {
    if (in_string_) {
      p = end_string(p, end);
      if (p == nullptr || depth_ == 0) return p;
      continue;
    }
    const char c = *p++;
    if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if ((c == '}' || c == ']') && (depth_ == 0 || --depth_ == 0)) {
      return p;
    }
  }
  return nullptr;
}

const char* json_value_end(const char* p, const char* end) {
  if (p == end) return nullptr;
  if (*p == '{' || *p == '[' || *p == '"') return JsonExtent().find_end(p, end);
  while (p != end && *p != ',' && *p != '}' && *p != ']' && *p != ':' && !is_json_space(*p)) ++p;
  return p == end ? nullptr : p;
}

std::string_view json_document(std::string_view text) {
  text.remove_prefix(byte_order_mark_bytes(text));
  while (!text.empty() && is_json_space(text.front())) text.remove_prefix(1);
  return text;
}

bool is_json_document(std::string_view text) {
  const std::string_view document = json_document(text);
  return document.starts_with('{') || document.starts_with('[');
}

}  // namespace prof::analyzer
