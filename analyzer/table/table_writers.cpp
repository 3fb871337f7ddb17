// How is a table written as text, as CSV and as JSON?
#include "analyzer/base/json/json_decimal.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/base/sink.h"
#include "analyzer/table/aligned_rows.h"
#include "analyzer/table/cell_text.h"
#include "analyzer/table/nsys_text.h"
#include "analyzer/table/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace prof::analyzer {

namespace {

constexpr std::string_view kUnitNames[] = {"", "ns", "us", "ms", "s"};

// Titles, a line, and the rows.
void write_text_rows(const Table& table, TimeUnit unit, Sink& sink) {
  const std::vector<TableColumn>& columns = table.columns();
  std::vector<std::string> titles;
  for (const TableColumn& column : columns) {
    const bool with_unit = is_time(column.type) && unit != TimeUnit::Auto;
    titles.push_back(with_unit ? fmt::format("{} ({})", column.title, kUnitNames[static_cast<int>(unit)])
                               : column.title);
  }
  const auto cut = [](std::string&& text) { return cut_text(std::move(text), kLongestText); };
  const RowWriter rows(table, unit, {cut, false, false, kLongestText});
  const std::vector<size_t> widths = rows.widths(titles);
  LineBuffer head;
  for (size_t i = 0; i < columns.size(); ++i) {
    const size_t padding = widths[i] - display_width(titles[i]);
    const bool left = columns[i].type == CellType::Text;
    (head.spaces((i == 0 ? 0 : 2) + (left ? 0 : padding)) += titles[i]).spaces(left ? padding : 0);
  }
  head.trim_spaces();
  head += '\n';
  for (size_t i = 0; i < columns.size(); ++i) (head += i == 0 ? "" : "  ") += std::string(widths[i], '-');
  head += '\n';
  sink.write(head.view());
  const AlignedRows lines(columns, widths, 0);
  rows.write(sink, [&](const CellTexts& texts, size_t first, size_t last, LineBuffer& into) {
    lines.put(texts, first, last, into);
  });
}

void write_end(const Table& table, TimeUnit unit, Sink& sink) {
  if (!table.footers.empty()) sink.write("\n");
  for (const std::string& footer : table.footers) sink.write(readable_lines(footer) + "\n");
  for (const Table& part : table.parts) {
    sink.write("\n");
    write_text_rows(part, unit, sink);
  }
  sink.write(fmt::format("\n{}\n", readable_lines(table.coverage)));
}

void write_text(const Table& table, TimeUnit unit, Sink& sink) {
  if (table.nsys_look) return write_nsys_text(table, unit, sink);
  sink.write(fmt::format("{} ({})\n", table.title(), table.name()));
  for (const std::string& note : table.notes) sink.write(readable_lines(note) + "\n");
  sink.write("\n");
  if (table.text_form) {
    sink.write(table.text_form(table));
    write_end(table, unit, sink);
    return;
  }
  write_text_rows(table, unit, sink);
  write_end(table, unit, sink);
}

bool is_number_text(std::string_view text) {
  text.remove_prefix(text.front() == '+' || text.front() == '-' ? 1 : 0);
  if (text.ends_with(" %")) text.remove_suffix(2);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && is_digit(text.front()) && error == std::errc() && end == text.data() + text.size();
}

// Spreadsheets run a cell that begins like a formula. "-5" and "--" are none.
bool is_formula(std::string_view text) {
  constexpr std::string_view kFormulas[] = {"=", "+", "-", "@", "＝", "＋", "－", "＠"};
  const bool begins = std::any_of(std::begin(kFormulas), std::end(kFormulas),
                                  [&](std::string_view each) { return text.starts_with(each); });
  return begins && text.find_first_not_of("+-=@") != std::string_view::npos && !is_number_text(text);
}

std::string quoted(std::string&& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return std::move(text);
  std::string cell = "\"";
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

std::string csv_text(std::string&& text) {
  constexpr size_t kMostOfSpreadsheet = 32767;  // characters that a cell can have
  text = cut_text(std::move(text), kMostOfSpreadsheet);
  if (is_formula(text)) text.insert(0, 1, '\'');
  return quoted(std::move(text));
}

void write_csv(const Table& table, TimeUnit unit, Sink& sink) {
  if (unit == TimeUnit::Auto) unit = TimeUnit::Ns;
  const std::vector<TableColumn>& columns = table.columns();
  for (size_t i = 0; i < columns.size(); ++i) {
    sink.write(i == 0 ? "" : ",");
    const std::string& title = columns[i].title;
    std::string shown =
        is_time(columns[i].type) ? fmt::format("{} ({})", title, kUnitNames[static_cast<int>(unit)]) : title;
    const bool is_of_data = title != column_info(columns[i].id).title();  // "+- (95 %)" of the catalogue is safe
    sink.write(is_of_data ? csv_text(readable_utf8(shown)) : quoted(std::move(shown)));
  }
  sink.write("\n");
  const RowWriter rows(table, unit, {csv_text});
  rows.write(sink, [&](const CellTexts& texts, size_t first, size_t last, LineBuffer& lines) {
    CellTexts::Buffer buffer;
    for (size_t row = first; row < last; ++row) {
      for (size_t i = 0; i < columns.size(); ++i) {
        if (i != 0) lines += ',';
        texts.put(texts.of(row, i, buffer), buffer, lines);
      }
      lines += '\n';
    }
  });
}

// The objects of the rows, and what closes their list.
void write_json_rows(const Table& table, Sink& sink) {
  std::vector<std::string> keys;
  for (const TableColumn& column : table.columns()) {
    keys.push_back(json_string(json_key(column.key, column.type)) + ":");
  }
  if (table.rows() != 0) sink.write("\n");
  const RowWriter rows(table, TimeUnit::Ns, {[](std::string&& text) { return json_string(text); }, false, true});
  const auto put = [&](const CellTexts& texts, size_t row, LineBuffer& line) {
    CellTexts::Buffer buffer;
    line += '{';
    for (size_t i = 0; i < keys.size(); ++i) {
      const TableColumn& column = texts.table().columns()[i];
      const int64_t cell = column.cells[row];
      if (i != 0) line += ',';
      line += keys[i];
      if (cell == kEmptyCell) {
        line += "null";
      } else if (is_real(column.type)) {
        line += std::string_view(buffer, static_cast<size_t>(put_double(buffer, Table::real(cell)) - buffer));
      } else {
        texts.put(texts.of(row, i, buffer), buffer, line);
      }
    }
    line += '}';
  };
  constexpr std::string_view kBetween = ",\n";
  rows.write(
      sink,
      [&](const CellTexts& texts, size_t first, size_t last, LineBuffer& lines) {
        for (size_t row = first; row < last; ++row) {
          if (row != first) lines += kBetween;
          put(texts, row, lines);
        }
      },
      kBetween);
  sink.write("\n],");
}

void write_json(const Table& table, Sink& sink) {
  sink.write(fmt::format("{{\"schema_version\":{},\"report\":{},\"title\":{},\"notes\":[", kTableSchemaVersion,
                         json_string(table.name()), json_string(table.title())));
  for (size_t i = 0; i < table.notes.size(); ++i) {
    sink.write(i == 0 ? "" : ",");
    sink.write(json_string(table.notes[i]));
  }
  sink.write("],\"rows\":[");
  write_json_rows(table, sink);
  for (const Table& part : table.parts) {
    sink.write(fmt::format("{}:[", json_string(part.name())));
    write_json_rows(part, sink);
  }
  if (!table.footers.empty()) {
    sink.write("\"footers\":[");
    for (size_t i = 0; i < table.footers.size(); ++i) {
      sink.write(i == 0 ? "" : ",");
      sink.write(json_string(table.footers[i]));
    }
    sink.write("],");
  }
  sink.write(fmt::format("\"coverage\":{}}}\n", json_string(table.coverage)));
}

}  // namespace

std::string time_in(int64_t ns, TimeUnit unit) {
  switch (unit) {
    case TimeUnit::Auto: return scaled_time(ns);
    case TimeUnit::Ns: return fmt::format("{}", ns);
    case TimeUnit::Us: return fmt::format("{:.3f}", static_cast<double>(ns) / 1e3);
    case TimeUnit::Ms: return fmt::format("{:.3f}", static_cast<double>(ns) / 1e6);
    case TimeUnit::S: return fmt::format("{:.6f}", static_cast<double>(ns) / 1e9);
  }
  return {};
}

std::string mean_time_in(double ns, TimeUnit unit) {
  constexpr double kMost = 9e18;  // numbers that do not fit integer ns keep their digits
  switch (unit) {
    case TimeUnit::Auto:
      if (std::fabs(ns) < kMost) return scaled_time(std::llround(ns));
      return fmt::format("{:.4g}s", ns / 1e9);
    case TimeUnit::Ns: return fmt::format("{:.1f}", ns);
    case TimeUnit::Us: return fmt::format("{:.3f}", ns / 1e3);
    case TimeUnit::Ms: return fmt::format("{:.3f}", ns / 1e6);
    case TimeUnit::S: return fmt::format("{:.6f}", ns / 1e9);
  }
  return {};
}

void write_table(const Table& table, TableFormat format, TimeUnit unit, Sink& sink) {
  switch (format) {
    case TableFormat::Text: write_text(table, unit, sink); break;
    case TableFormat::Csv: write_csv(table, unit, sink); break;
    case TableFormat::Json: write_json(table, sink); break;
  }
}

}  // namespace prof::analyzer
