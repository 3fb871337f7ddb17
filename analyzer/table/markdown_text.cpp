#include "analyzer/table/markdown_text.h"

#include "analyzer/base/json/json_text.h"

namespace prof::analyzer {

std::string in_markdown(std::string_view text, size_t longest) {
  std::string safe;
  for (const char each : cut_text(readable_utf8(text), longest)) {
    if (each == '<') {
      safe += "&lt;";
    } else if (each == '&') {
      safe += "&amp;";
    } else {
      if (std::string_view("\\`*_[]#|~@").find(each) != std::string_view::npos) safe += '\\';
      safe += each;
    }
  }
  return safe;
}

}  // namespace prof::analyzer
