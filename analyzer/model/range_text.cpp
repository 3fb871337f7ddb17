#include "analyzer/model/range_text.h"

#include <charconv>

namespace prof::analyzer {

namespace {

constexpr std::string_view kDigits = "0123456789";

// The start of the list that ends with the text; npos if its brackets do not match.
size_t list_begin(std::string_view text) {
  size_t depth = 0;
  for (size_t at = text.size(); at-- > 0;) {
    if (text[at] == ']') ++depth;
    if (text[at] == '[' && --depth == 0) return at;
  }
  return std::string_view::npos;
}

// Removes ", KEY = " from the end of `text`.
bool take_key(std::string_view& text, std::string_view key) {
  constexpr std::string_view kComma = ", ", kEquals = " = ";
  if (text.size() < kComma.size() + key.size() + kEquals.size() || !text.ends_with(kEquals)) return false;
  const std::string_view before = text.substr(0, text.size() - kEquals.size());
  if (!before.ends_with(key) || !before.substr(0, before.size() - key.size()).ends_with(kComma)) return false;
  text = before.substr(0, before.size() - key.size() - kComma.size());
  return true;
}

int64_t number(std::string_view digits) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() ? value : -1;
}

// Removes one part from the end of parts.name.
bool take_part(RangeText& parts) {
  std::string_view& rest = parts.name;
  if (rest.ends_with(']')) {
    const size_t begin = list_begin(rest);
    if (begin == std::string_view::npos) return false;
    const std::string_view list = rest.substr(begin);
    std::string_view head = rest.substr(0, begin);
    const bool sizes = take_key(head, "sizes");
    if (!sizes && !take_key(head, "input_op_ids")) return false;
    if (sizes) parts.sizes = list;
    rest = head;
    return true;
  }
  const size_t before = rest.find_last_not_of(kDigits);
  if (before == std::string_view::npos || before + 1 == rest.size()) return false;
  const std::string_view digits = rest.substr(before + 1);
  std::string_view head = rest.substr(0, before + 1);
  if (take_key(head, "op_id")) {
    parts.op_id = number(digits);
  } else if (const bool stashed = take_key(head, "stashed seq"); stashed || take_key(head, "seq")) {
    parts.sequence = number(digits);
    parts.stashed = stashed;
  } else {
    return false;
  }
  rest = head;
  return true;
}

}  // namespace

RangeText parse_range_text(std::string_view text) {
  RangeText parts;
  parts.name = text;
  while (take_part(parts)) {}
  return parts;
}

std::string_view plain_range_text(std::string_view text) { return parse_range_text(text).name; }

}  // namespace prof::analyzer
