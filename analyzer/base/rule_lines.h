// Reads the lines of a file that a user writes: rules of categories and of folding, peaks of devices.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

namespace prof::analyzer {

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Calls take(line, "file:number") for each trimmed line that is neither empty nor a comment (#). Its exceptions are
// rethrown as "FILE:NUMBER: what; form".
template <class Take>
void each_rule_line(std::string_view text, const std::string& file, std::string_view form, Take&& take) {
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const std::string place = fmt::format("{}:{}", file, number);
    try {
      take(line, place);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("{}: {}; {}", place, error.what(), form));
    }
  }
}

}  // namespace prof::analyzer
