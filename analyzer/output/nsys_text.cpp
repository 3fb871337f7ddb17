#include "analyzer/output/nsys_text.h"

#include "analyzer/output/json_text.h"
#include "analyzer/output/sink.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

namespace {

constexpr std::string_view kUnitNames[] = {"ns", "ns", "us", "ms", "s"};
constexpr size_t kLongestText = 100;

bool begins_character(char c) { return (c & 0xc0) != 0x80; }

size_t characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string cut_text(std::string text) {
  if (characters(text) <= kLongestText) return text;
  size_t at = 0;
  for (size_t seen = 0; at < text.size(); ++at) {
    if (begins_character(text[at]) && ++seen == kLongestText) break;
  }
  return text.substr(0, at) + "…";
}

std::string cell_text(const Table& table, const TableColumn& column, int64_t cell, TimeUnit unit) {
  if (cell == kEmptyCell) return {};
  switch (column.type) {
    case CellType::Text: return cut_text(readable_utf8(table.text(cell)));
    case CellType::Count: return with_commas(fmt::format("{}", cell));
    case CellType::Nanoseconds: return with_commas(time_in(cell, unit));
    case CellType::MeanNanoseconds: return with_commas(mean_time_in(Table::real(cell), unit));
    case CellType::Real: return with_commas(fmt::format("{:.{}f}", Table::real(cell), column.decimals));
  }
  return {};
}

}  // namespace

std::string with_commas(std::string_view number) {
  const size_t point = std::min(number.find('.'), number.size());
  const size_t first = !number.empty() && number.front() == '-' ? 1 : 0;
  std::string text(number);
  for (size_t at = point; at > first + 3;) text.insert(at -= 3, 1, ',');
  return text;
}

void write_nsys_text(const Table& table, TimeUnit unit, Sink& sink) {
  if (unit == TimeUnit::Auto) unit = TimeUnit::Ns;
  sink.write(fmt::format(" ** {} ({}):\n\n", table.title(), table.name()));
  const std::vector<TableColumn>& columns = table.columns();
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  for (const TableColumn& column : columns) {
    titles.push_back(is_time(column.type) ? fmt::format("{} ({})", column.title, kUnitNames[static_cast<size_t>(unit)])
                                          : column.title);
    size_t width = titles.back().size();
    for (const int64_t cell : column.cells) width = std::max(width, characters(cell_text(table, column, cell, unit)));
    widths.push_back(width);
  }
  // Spaces at the end of a line are left out.
  std::string line;
  const auto put = [&](size_t i, std::string_view text, size_t before) {
    line += i == 0 ? " " : "  ";
    line.append(before, ' ').append(text).append(widths[i] - before - characters(text), ' ');
    if (i + 1 < columns.size()) return;
    line.erase(line.find_last_not_of(' ') + 1);
    sink.write(line + "\n");
    line.clear();
  };
  for (size_t i = 0; i < columns.size(); ++i) put(i, titles[i], (widths[i] - titles[i].size()) / 2);
  for (size_t i = 0; i < columns.size(); ++i) put(i, std::string(widths[i], '-'), 0);
  for (size_t row = 0; row < table.rows(); ++row) {
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::string text = cell_text(table, columns[i], columns[i].cells[row], unit);
      put(i, text, columns[i].type == CellType::Text ? 0 : widths[i] - characters(text));
    }
  }
  if (!table.notes.empty()) sink.write("\n");
  for (const std::string& note : table.notes) sink.write(fmt::format("{}\n", note));
  sink.write(fmt::format("\n{}\n", table.coverage));
}

}  // namespace prof::analyzer
