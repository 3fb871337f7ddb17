#include "analyzer/base/json/json_quotes.h"

#include "analyzer/base/json/json_extent.h"

#include <cstddef>
#include <string_view>

namespace prof::analyzer {

namespace {

constexpr ptrdiff_t kLongestValue = ptrdiff_t{1} << 20;

// Whether a text can end before `p`: closing brackets or the end follow, or a comma and then the next text.
bool can_end_before(const char* p, const char* end) {
  bool separated = false, opened = false;  // after a comma or closing bracket; after a comma, before a text
  for (; p != end; ++p) {
    if (is_json_space(*p)) continue;
    if (*p == '}' || *p == ']') {
      separated = true, opened = false;
    } else if (*p == ',') {
      separated = opened = true;
    } else if (!opened || (*p != '{' && *p != '[')) {
      return opened && *p == '"';
    }
  }
  return separated;
}

// Escapes all backslashes from `first` on except those that escape a quote or a backslash.
void escape_backslashes(std::string& text, size_t first) {
  const std::string raw = text.substr(first);
  text.resize(first);
  for (size_t i = 0; i < raw.size(); ++i) {
    text += raw[i];
    if (raw[i] != '\\') continue;
    if (i + 1 < raw.size() && (raw[i + 1] == '"' || raw[i + 1] == '\\')) {
      text += raw[++i];
    } else {
      text += '\\';
    }
  }
}

}  // namespace

ClosedValue close_backslash_quotes(const char* p, const char* end) {
  if (end - p > kLongestValue) end = p + kLongestValue;
  ClosedValue value;
  bool any = false;
  size_t depth = 0;
  while (p != end) {
    const char c = *p++;
    value.text += c;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && depth-- <= 1) {
      if (any) value.end = p;
      return value;
    }
    if (c != '"') continue;
    const size_t first = value.text.size();
    for (;; ++p) {
      if (p == end || *p == '\n') return {};
      value.text += *p;
      if (*p == '"') break;
      if (*p != '\\') continue;
      if (++p == end || *p == '\n') return {};
      if (*p == '"' && can_end_before(p + 1, end)) {
        escape_backslashes(value.text, first);
        value.text += '"';
        any = true;
        break;
      }
      value.text += *p;
    }
    ++p;  // after the quote
  }
  return {};
}

}  // namespace prof::analyzer
