#include "analyzer/command/help_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace prof::analyzer {

namespace {

constexpr size_t kNarrowest = 40;
constexpr size_t kWithoutTerminal = 100;

// The column where the description of a line starts, at most the middle of the line.
size_t description_begin(std::string_view line, size_t width) {
  const size_t first = line.find_first_not_of(' ');
  if (first == std::string_view::npos) return 0;
  size_t begin = first;
  for (size_t at = line.find("  ", first); at != std::string_view::npos && at < width / 2;
       at = line.find("  ", begin)) {
    begin = std::min(line.find_first_not_of(' ', at), line.size());
  }
  // The parser puts one space after an option whose name ends just before the descriptions.
  constexpr size_t kDescriptions = 30;
  if (begin == first && line.starts_with("  -") && line.size() > kDescriptions && line[kDescriptions - 1] == ' ' &&
      kDescriptions <= width / 2)
    return kDescriptions;
  return begin <= width / 2 ? begin : first;
}

void wrap_line(std::string_view line, size_t width, std::string& into) {
  const size_t indent = description_begin(line, width);
  size_t before = 0;      // spaces before the rest of the line
  size_t least = indent;  // a break before this place would leave an empty description
  while (before + line.size() > width) {
    size_t end = line.rfind(' ', width - before);
    if (end == std::string_view::npos || end <= least) end = line.find(' ', std::max(width - before, least));
    if (end == std::string_view::npos) break;
    into.append(line.substr(0, end)).append("\n").append(indent, ' ');
    line.remove_prefix(end + 1);
    before = indent;
    least = 0;
  }
  into.append(line);
}

}  // namespace

size_t terminal_width() {
  if (const char* const columns = std::getenv("COLUMNS"); columns != nullptr) {
    const std::string_view text(columns);
    size_t width = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
    if (error == std::errc() && end == text.data() + text.size() && width != 0) return std::max(width, kNarrowest);
  }
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
    return std::max<size_t>(size.ws_col, kNarrowest);
  return kWithoutTerminal;
}

std::string wrapped(std::string_view text, size_t width) {
  std::string into;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    wrap_line(text.substr(0, end), width, into);
    if (end < text.size()) into += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return into;
}

}  // namespace prof::analyzer
