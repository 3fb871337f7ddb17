// Text inside Markdown, such as a cell of a table. Used by tables and by the answer of a gate.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace prof::analyzer {

// Readable UTF-8 of at most `longest` characters, in which no character has a meaning of Markdown.
std::string in_markdown(std::string_view text, size_t longest);

}  // namespace prof::analyzer
