#include "analyzer/base/json/json_members.h"

#include "analyzer/base/json/json_extent.h"

namespace prof::analyzer {

namespace {

const char* after_spaces(const char* p, const char* end) {
  while (p != end && is_json_space(*p)) ++p;
  return p;
}

// The byte after the value at `p`. A number or word at the end of the text ends with the text.
const char* value_end(const char* p, const char* end) {
  const bool has_delimiter = *p == '"' || *p == '{' || *p == '[';
  const char* const found = json_value_end(p, end);
  return found == nullptr && !has_delimiter ? end : found;
}

}  // namespace

std::optional<std::string_view> json_member(std::string_view members, std::string_view key) {
  const char* const end = members.data() + members.size();
  const char* p = after_spaces(members.data(), end);
  if (p != end && *p == '{') p = after_spaces(p + 1, end);
  while (p != end && *p == '"') {
    const char* const name_end = json_value_end(p, end);
    if (name_end == nullptr) return std::nullopt;
    const std::string_view name(p + 1, static_cast<size_t>(name_end - p) - 2);
    p = after_spaces(name_end, end);
    if (p == end || *p != ':') return std::nullopt;
    p = after_spaces(p + 1, end);
    const char* const after = p == end ? nullptr : value_end(p, end);
    if (after == nullptr || after == p) return std::nullopt;
    if (name == key) return std::string_view(p, static_cast<size_t>(after - p));
    p = after_spaces(after, end);
    if (p == end || *p != ',') return std::nullopt;
    p = after_spaces(p + 1, end);
  }
  return std::nullopt;
}

}  // namespace prof::analyzer
