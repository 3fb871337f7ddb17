// Text inside an HTML page. Used by the pages of flame, roofline and diff.
#pragma once

#include <string>
#include <string_view>

namespace prof::analyzer {

// Characters of a text on a page; a longer one is cut.
inline constexpr size_t kLongestOnPage = 2000;

// Readable UTF-8 without markup, cut if it is too long. Also valid inside an attribute in double quotes.
std::string in_html(std::string_view text);

// The same for a page inside a page, which prof wrote itself: line breaks remain.
std::string in_attribute(std::string_view page);

}  // namespace prof::analyzer
