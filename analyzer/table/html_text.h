// Text inside an HTML page. Used by the pages of flame, roofline and diff.
#pragma once

#include <string>
#include <string_view>

namespace prof::analyzer {

// Readable UTF-8 without markup. Also valid inside an attribute in double quotes.
std::string in_html(std::string_view text);

// The same for a page inside a page, which prof wrote itself: line breaks remain.
std::string in_attribute(std::string_view page);

}  // namespace prof::analyzer
