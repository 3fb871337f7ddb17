// What a text contains.
#pragma once

#include <string_view>

namespace prof::analyzer {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Of a path: what follows the last slash.
constexpr std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace prof::analyzer
