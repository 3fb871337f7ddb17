// Text and JSON inside an HTML page.
#pragma once

#include <string>
#include <string_view>

namespace prof::analyzer {

// Characters of a text on a page; a longer one is cut.
inline constexpr size_t kLongestOnPage = 2000;

// Readable UTF-8 without markup, cut if it is too long. Also valid inside an attribute in double quotes.
std::string in_html(std::string_view text);

// JSON in which `<`, `>` and `&` are escaped, so that it may be inside a script element.
std::string in_script(std::string_view json);

}  // namespace prof::analyzer
