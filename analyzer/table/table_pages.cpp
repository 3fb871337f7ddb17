#include "analyzer/table/table_pages.h"

#include "analyzer/base/json/json_text.h"
#include "analyzer/base/sink.h"
#include "analyzer/table/cell_text.h"
#include "analyzer/table/html_text.h"
#include "analyzer/table/markdown_text.h"

#include <fmt/format.h>

#include <algorithm>
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
  sink.write("<div class=\"t\" tabindex=\"0\"><table><thead><tr>");
  for (const TableColumn& column : table.columns())
    sink.write(fmt::format("<th{}>{}</th>", column.type == CellType::Text ? "" : " class=\"n\"",
                           in_html(shown_title(column, unit))));
  sink.write("</tr></thead><tbody>\n");
  const CellLook look{[](std::string&& text) { return in_html(text); }, false, true};
  write_framed_rows(table, unit, look, {"<tr>", "<td>", "<td class=\"n\">", "</td>", "</tr>\n"}, sink);
  sink.write("</tbody></table></div>\n");
}

}  // namespace

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
                  "content=\"prof\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
                  "<title>{}</title><style>:root{{color-scheme:light dark;--line:#ddd;--soft:#555}}"
                  "@media(prefers-color-scheme:dark){{:root{{--line:#444;--soft:#aaa}}}}"
                  "body{{font:14px system-ui,sans-serif;margin:16px;overflow-wrap:anywhere}}"
                  "table{{border-collapse:collapse}}.t{{overflow-x:auto}}"
                  "td,th{{padding:2px 8px;text-align:left;border-bottom:1px solid var(--line);white-space:nowrap}}"
                  ".n{{text-align:right;font-variant-numeric:tabular-nums}}.c{{color:var(--soft)}}"
                  "svg,canvas{{max-width:100%;height:auto}}"
                  "iframe{{width:100%;height:90vh;border:1px solid var(--line);box-sizing:border-box}}"
                  "</style></head><body>\n",
                  in_html(title)));
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
  sink.write(fmt::format("<p class=\"c\">{}</p></section>\n", in_html(table.coverage)));
}

void write_page_in_page(std::string_view title, std::string_view name, std::string_view page, Sink& sink) {
  sink.write(fmt::format("<section id=\"{0}\"><h2>{1} ({0})</h2>\n<iframe srcdoc=\"", in_html(name), in_html(title)));
  sink.write(in_attribute(page));
  sink.write("\"></iframe></section>\n");
}

void write_page_end(Sink& sink) { sink.write("</body></html>\n"); }

}  // namespace prof::analyzer
