#include "analyzer/output/nsys_text.h"

#include "analyzer/output/cell_text.h"
#include "analyzer/output/sink.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

namespace {

constexpr std::string_view kUnitNames[] = {"ns", "ns", "us", "ms", "s"};
constexpr size_t kLongestText = 100;

bool begins_character(char c) { return (c & 0xc0) != 0x80; }

std::string cut_text(std::string&& text) {
  if (display_width(text) <= kLongestText) return std::move(text);
  size_t at = 0;
  for (size_t seen = 0; at < text.size(); ++at) {
    if (begins_character(text[at]) && ++seen == kLongestText) break;
  }
  return text.substr(0, at) + "…";
}

}  // namespace

void write_nsys_text(const Table& table, TimeUnit unit, Sink& sink) {
  if (unit == TimeUnit::Auto) unit = TimeUnit::Ns;
  sink.write(fmt::format(" ** {} ({}):\n\n", table.title(), table.name()));
  const std::vector<TableColumn>& columns = table.columns();
  std::vector<std::string> titles;
  for (const TableColumn& column : columns) {
    titles.push_back(is_time(column.type) ? fmt::format("{} ({})", column.title, kUnitNames[static_cast<size_t>(unit)])
                                          : column.title);
  }
  const RowWriter rows(table, unit, {cut_text, true});
  const std::vector<size_t> widths = rows.widths(titles);
  // Spaces at the end of a line are left out.
  const auto put = [&](size_t i, const ShownCell& cell, size_t before, LineBuffer& line) {
    line += i == 0 ? " " : "  ";
    (line.spaces(before) += cell.text).spaces(widths[i] - std::min(widths[i], before + cell.width));
    if (i + 1 < columns.size()) return;
    line.trim_spaces();
    line += '\n';
  };
  LineBuffer head;
  for (size_t i = 0; i < columns.size(); ++i) {
    const size_t width = display_width(titles[i]);
    put(i, {titles[i], width}, (widths[i] - width) / 2, head);
  }
  for (size_t i = 0; i < columns.size(); ++i) put(i, {std::string(widths[i], '-'), widths[i]}, 0, head);
  sink.write(head.view());
  rows.write(sink, [&](const CellTexts& texts, size_t row, LineBuffer& line) {
    CellTexts::Buffer buffer;
    for (size_t i = 0; i < columns.size(); ++i) {
      const ShownCell cell = texts.of(row, i, buffer);
      put(i, cell, columns[i].type == CellType::Text ? 0 : widths[i] - std::min(widths[i], cell.width), line);
    }
  });
  if (!table.notes.empty()) sink.write("\n");
  for (const std::string& note : table.notes) sink.write(fmt::format("{}\n", note));
  sink.write(fmt::format("\n{}\n", table.coverage));
}

}  // namespace prof::analyzer
