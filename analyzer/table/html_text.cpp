#include "analyzer/table/html_text.h"

#include "analyzer/base/json/json_text.h"

namespace prof::analyzer {

std::string in_html(std::string_view text) {
  std::string safe;
  for (const char each : cut_text(readable_utf8(text), kLongestOnPage)) {
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

std::string in_script(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char each : json) {
    switch (each) {
      case '<': safe += "\\u003c"; break;
      case '>': safe += "\\u003e"; break;
      case '&': safe += "\\u0026"; break;
      default: safe += each;
    }
  }
  return safe;
}

}  // namespace prof::analyzer
