// Is a text a list of numbers, and does the list contain a number? A list is "all", or numbers and ranges such as
// "0,2-3". The recorder's options use such lists, and `prof record` checks them too. The functions must not allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prof::format {

// Reads the number in `text`. Returns false if it is not a number, or has more than nine digits.
constexpr bool read_number(std::string_view text, uint64_t& out) {
  out = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    out = out * 10 + static_cast<uint64_t>(c - '0');
  }
  return !text.empty() && text.size() <= 9;
}

// Returns the part of `list` before the next separator. The text after the separator remains in `list`.
constexpr std::string_view next_part(std::string_view& list, char separator) {
  size_t length = 0;
  while (length < list.size() && list[length] != separator) ++length;
  const std::string_view part(list.data(), length);
  list.remove_prefix(length < list.size() ? length + 1 : length);
  return part;
}

// Whether a well-formed `list` contains `number`.
constexpr bool number_in_list(std::string_view list, uint64_t number) {
  if (list == "all") return true;
  while (!list.empty()) {
    std::string_view last = next_part(list, ',');
    uint64_t from = 0, to = 0;
    read_number(next_part(last, '-'), from);
    if (last.empty()) {
      to = from;
    } else {
      read_number(last, to);
    }
    if (number >= from && number <= to) return true;
  }
  return false;
}

// Whether `list` is a well-formed list.
constexpr bool is_number_list(std::string_view list) {
  if (list == "all") return true;
  if (list.empty() || list.back() == ',' || list.back() == '-') return false;
  while (!list.empty()) {
    std::string_view last = next_part(list, ',');
    const bool range = last.find('-') != std::string_view::npos;
    uint64_t from = 0, to = 0;
    if (!read_number(next_part(last, '-'), from)) return false;
    if (range && (!read_number(last, to) || to < from)) return false;
  }
  return true;
}

}  // namespace prof::format
