#include "preload/base/name_list.h"

#include "preload/format/number_list.h"

namespace prof::preload {

namespace {

bool matches(const char* pattern, const char* pattern_end, const char* text, const char* text_end) {
  for (; pattern != pattern_end; ++pattern, ++text) {
    if (*pattern == '*') {
      for (const char* at = text;; ++at) {
        if (matches(pattern + 1, pattern_end, at, text_end)) return true;
        if (at == text_end) return false;
      }
    }
    if (text == text_end || *text != *pattern) return false;
  }
  return text == text_end;
}

}  // namespace

bool name_in_list(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::string_view pattern = format::next_part(list, ',');
    if (matches(pattern.data(), pattern.data() + pattern.size(), name.data(), name.data() + name.size())) return true;
  }
  return false;
}

}  // namespace prof::preload
