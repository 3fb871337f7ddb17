#include "analyzer/table/table_pages.h"

#include "analyzer/base/json/json_text.h"
#include "analyzer/base/sink.h"
#include "analyzer/table/cell_text.h"
#include "analyzer/table/html_text.h"
#include "analyzer/table/markdown_text.h"
#include "page_files.inc"  // what CMake makes of the files in output/page

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace prof::analyzer {

namespace {

// Rows of cells, each between `before` and `after`.
struct RowFrame {
  std::string_view row_begin, left, right, cell_end, row_end;
};

void write_framed_rows(const Table& table, TimeUnit unit, const CellLook& look, const RowFrame& frame, Sink& sink) {
  const std::vector<TableColumn>& columns = table.columns();
  const RowWriter rows(table, unit, look);
  rows.write(sink, [&](const CellTexts& texts, size_t first, size_t last, LineBuffer& lines) {
    CellTexts::Buffer buffer;
    for (size_t row = first; row < last; ++row) {
      lines += frame.row_begin;
      for (size_t i = 0; i < columns.size(); ++i) {
        lines += columns[i].type == CellType::Text ? frame.left : frame.right;
        lines += texts.of(row, i, buffer).text;
        lines += frame.cell_end;
      }
      lines += frame.row_end;
    }
  });
}

void write_markdown_rows(const Table& table, TimeUnit unit, Sink& sink) {
  if (table.columns().empty()) return;
  std::string head = "|", rule = "|";
  for (const TableColumn& column : table.columns()) {
    head += fmt::format(" {} |", in_markdown(shown_title(column, unit), kLongestText));
    rule += column.type == CellType::Text ? " --- |" : " ---: |";
  }
  sink.write(head + "\n" + rule + "\n");
  const CellLook look{[](std::string&& text) { return in_markdown(text, kLongestText); }, false, true};
  write_framed_rows(table, unit, look, {"|", " ", " ", " |", "\n"}, sink);
}

void write_page_rows(const Table& table, TimeUnit unit, Sink& sink) {
  if (table.columns().empty()) return;
  sink.write("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>");
  for (const TableColumn& column : table.columns())
    sink.write(fmt::format("<th{}>{}</th>", column.type == CellType::Text ? " class=\"text\"" : "",
                           in_html(shown_title(column, unit))));
  sink.write("</tr></thead><tbody>\n");
  const CellLook look{[](std::string&& text) { return in_html(text); }, false, true};
  write_framed_rows(table, unit, look, {"<tr>", "<td class=\"text\">", "<td>", "</td>", "</tr>\n"}, sink);
  sink.write("</tbody></table></div>\n");
}

// A hash in hexadecimal digits as base64, the form in which a Content-Security-Policy has it.
std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bits, text;
  for (const char c : hex) bits += fmt::format("{:04b}", c <= '9' ? c - '0' : c - 'a' + 10);
  while (bits.size() % 6 != 0) bits += '0';
  for (size_t at = 0; at < bits.size(); at += 6) text += kDigits[std::stoul(bits.substr(at, 6), nullptr, 2)];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

constexpr std::string_view kMainBegin = "<main>\n", kMainEnd = "</main>\n";

}  // namespace

std::string page_policy() {
  return fmt::format(
      "default-src 'none'; script-src 'sha256-{}' 'sha256-{}'; style-src 'unsafe-inline'; base-uri 'none'; "
      "form-action 'none'",
      base64_of_hex(kPageScriptSha256), base64_of_hex(kSheetScriptSha256));
}

std::string shown_title(const TableColumn& column, TimeUnit unit) {
  constexpr std::string_view kUnitNames[] = {"", "ns", "us", "ms", "s"};
  if (!is_time(column.type) || unit == TimeUnit::Auto) return column.title;
  return fmt::format("{} ({})", column.title, kUnitNames[static_cast<int>(unit)]);
}

void write_markdown(const Table& table, TimeUnit unit, Sink& sink) {
  const auto lines = [&sink](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) sink.write(fmt::format("- {}\n", in_markdown(text, kLongestText)));
    if (!texts.empty()) sink.write("\n");
  };
  sink.write(
      fmt::format("## {} ({})\n\n", in_markdown(table.title(), kLongestText), in_markdown(table.name(), kLongestText)));
  lines(table.notes);
  write_markdown_rows(table, unit, sink);
  sink.write("\n");
  lines(table.footers);
  for (const Table& part : table.parts) {
    write_markdown_rows(part, unit, sink);
    sink.write("\n");
  }
  sink.write(in_markdown(table.coverage, kLongestText) + "\n");
}

void write_page_head(std::string_view title, Sink& sink) {
  sink.write(
      fmt::format("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"generator\" "
                  "content=\"prof\"><meta http-equiv=\"Content-Security-Policy\" content=\"{}\"><meta "
                  "name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{}</title><style>",
                  page_policy(), in_html(title)));
  sink.write(kPageStyle);
  sink.write(
      fmt::format("</style></head>\n<body class=\"sheet\">\n<header><h1>{}</h1><nav id=\"nav\" "
                  "aria-label=\"parts of the page\"></nav><button id=\"theme\" "
                  "type=\"button\">dark</button></header>\n{}",
                  in_html(title), kMainBegin));
}

void write_page_section(const Table& table, TimeUnit unit, Sink& sink) {
  const auto lines = [&sink](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) sink.write(fmt::format("<p>{}</p>\n", in_html(text)));
  };
  sink.write(fmt::format("<section id=\"{0}\"><h2>{1} ({0})</h2>\n", in_html(table.name()), in_html(table.title())));
  lines(table.notes);
  write_page_rows(table, unit, sink);
  lines(table.footers);
  for (const Table& part : table.parts) write_page_rows(part, unit, sink);
  sink.write(fmt::format("<p class=\"soft\">{}</p></section>\n", in_html(table.coverage)));
}

void write_page_in_page(std::string_view title, std::string_view name, std::string_view page, Sink& sink) {
  const size_t begin = page.find(kMainBegin), end = page.rfind(kMainEnd);  // texts on the page have no <
  if (begin == std::string_view::npos || end == std::string_view::npos) throw std::logic_error("a page without <main>");
  sink.write(fmt::format("<section id=\"{0}\"><h2>{1} ({0})</h2>\n", in_html(name), in_html(title)));
  sink.write(page.substr(begin + kMainBegin.size(), end - begin - kMainBegin.size()));
  sink.write("</section>\n");
}

void write_page_end(Sink& sink) {
  sink.write(kMainEnd);
  sink.write("<script>");
  sink.write(kSheetScript);
  sink.write("</script></body></html>\n");
}

}  // namespace prof::analyzer
