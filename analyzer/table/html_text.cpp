#include "analyzer/table/html_text.h"

#include "analyzer/base/json/json_text.h"

namespace prof::analyzer {

std::string in_attribute(std::string_view page) {
  std::string safe;
  safe.reserve(page.size() + page.size() / 16);
  for (const char each : page) {
    switch (each) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += each;
    }
  }
  return safe;
}

std::string in_html(std::string_view text) { return in_attribute(cut_text(readable_utf8(text), kLongestOnPage)); }

}  // namespace prof::analyzer
