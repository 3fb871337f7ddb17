// Text inside an HTML page. Used by the pages of flame, roofline and diff.
#pragma once

#include <string>
#include <string_view>

namespace prof::analyzer {

// Readable UTF-8 in which nothing is markup, also as the value of an attribute in double quotes.
std::string in_html(std::string_view text);

// The same of a text that is ours already, a page within a page: its line ends stay.
std::string in_attribute(std::string_view page);

}  // namespace prof::analyzer
