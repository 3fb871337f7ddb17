// How is a table written as text, as CSV and as JSON? Markdown and HTML: table_pages.h.
#include "analyzer/base/json/json_decimal.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/base/sink.h"
#include "analyzer/table/aligned_rows.h"
#include "analyzer/table/cell_text.h"
#include "analyzer/table/nsys_text.h"
#include "analyzer/table/table.h"
#include "analyzer/table/table_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace prof::analyzer {

namespace {

constexpr size_t kBetweenColumns = 2;

constexpr size_t kHidden = AlignedRows::kHidden;

// The width of a line.
size_t line_width(const std::vector<size_t>& widths) {
  size_t total = 0;
  for (const size_t each : widths) total += each == kHidden ? 0 : each + kBetweenColumns;
  return total == 0 ? 0 : total - kBetweenColumns;
}

// Hides columns of numbers from the right, then columns of text, until the others fit if texts are cut.
void hide_columns(const std::vector<TableColumn>& columns, size_t width, size_t narrowest,
                  std::vector<size_t>& widths) {
  std::vector<size_t> least = widths;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].type == CellType::Text) least[i] = std::min(least[i], narrowest);
  }
  for (const bool texts : {false, true}) {
    for (size_t i = columns.size(); i-- > 1 && line_width(least) > width;) {
      if ((columns[i].type == CellType::Text) == texts) least[i] = widths[i] = kHidden;
    }
  }
}

// Narrows columns of text, the widest first, until the line has `width` characters. The last column of text may take
// what is left, because a listing measures only a sample of its rows.
void fit_widths(const std::vector<TableColumn>& columns, size_t width, std::vector<size_t>& widths) {
  constexpr size_t kNarrowest = 16;
  hide_columns(columns, width, kNarrowest, widths);
  const auto narrows = [&](size_t i) {
    return columns[i].type == CellType::Text && widths[i] != kHidden && widths[i] > kNarrowest;
  };
  while (line_width(widths) > width) {
    size_t widest = columns.size(), second = kNarrowest;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (!narrows(i)) continue;
      if (widest == columns.size() || widths[i] > widths[widest]) {
        if (widest != columns.size()) second = std::max(second, widths[widest]);
        widest = i;
      } else {
        second = std::max(second, widths[i]);
      }
    }
    if (widest == columns.size()) return;
    const size_t least = second < widths[widest] ? second : widths[widest] - 1;
    widths[widest] -= std::min(line_width(widths) - width, widths[widest] - least);
  }
  if (columns.back().type == CellType::Text && widths.back() != kHidden) widths.back() += width - line_width(widths);
}

// Titles, a line, and the rows. `width`: of a terminal; 0: whole.
void write_text_rows(const Table& table, TimeUnit unit, size_t width, Sink& sink) {
  const std::vector<TableColumn>& columns = table.columns();
  std::vector<std::string> titles;
  for (const TableColumn& column : columns) titles.push_back(shown_title(column, unit));
  const auto cut = [](std::string&& text) { return cut_text(std::move(text), kLongestText); };
  const RowWriter rows(table, unit, {cut, false, false, kLongestText});
  std::vector<size_t> widths = rows.widths(titles);
  const std::vector<size_t> needed = widths;
  if (width != 0 && !columns.empty()) fit_widths(columns, width, widths);
  LineBuffer head, rule;
  std::string hidden;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (widths[i] == kHidden) {
      hidden += (hidden.empty() ? "" : ", ") + titles[i];
      continue;
    }
    const std::string title = cut_text(titles[i], widths[i]);
    const size_t shown = std::min(widths[i], needed[i]);
    const size_t padding = shown - std::min(shown, display_width(title));
    const bool left = columns[i].type == CellType::Text;
    (head.spaces((i == 0 ? 0 : kBetweenColumns) + (left ? 0 : padding)) += title).spaces(left ? padding : 0);
    (rule += i == 0 ? "" : "  ") += std::string(shown, '-');
  }
  head.trim_spaces();
  head += '\n';
  rule += '\n';
  sink.write(head.view());
  sink.write(rule.view());
  const AlignedRows lines(columns, widths, 0, width != 0);
  rows.write(sink, [&](const CellTexts& texts, size_t first, size_t last, LineBuffer& into) {
    lines.put(texts, first, last, into);
  });
  if (!hidden.empty())
    sink.write(fmt::format("\ncolumns that do not fit the terminal, but are in files and pipes: {}\n", hidden));
}

// Lines in the layout of another tool, cut to `width` characters (0: whole).
void write_cut_lines(std::string_view text, size_t width, Sink& sink) {
  while (width != 0 && !text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    sink.write(cut_text(std::string(text.substr(0, end)), width));
    if (end < text.size()) sink.write("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  sink.write(text);
}

void write_end(const Table& table, TimeUnit unit, size_t width, Sink& sink) {
  if (!table.footers.empty()) sink.write("\n");
  for (const std::string& footer : table.footers) sink.write(readable_lines(footer) + "\n");
  for (const Table& part : table.parts) {
    sink.write("\n");
    write_text_rows(part, unit, width, sink);
  }
  sink.write(fmt::format("\n{}\n", readable_lines(table.coverage)));
}

void write_text(const Table& table, TimeUnit unit, size_t width, Sink& sink) {
  if (table.nsys_look && width == 0) return write_nsys_text(table, unit, sink);
  if (table.nsys_look) {
    std::string text;
    Sink whole(&text);
    write_nsys_text(table, unit, whole);
    whole.close();
    return write_cut_lines(text, width, sink);
  }
  sink.write(fmt::format("{} ({})\n", table.title(), table.name()));
  for (const std::string& note : table.notes) sink.write(readable_lines(note) + "\n");
  sink.write("\n");
  if (table.text_form) {
    write_cut_lines(table.text_form(table), width, sink);
  } else {
    write_text_rows(table, unit, width, sink);
  }
  write_end(table, unit, width, sink);
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
    std::string shown = shown_title(columns[i], unit);
    const bool is_of_data =
        columns[i].title != column_info(columns[i].id).title();  // "+- (95 %)" of the catalogue is safe
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

void write_text_table(const Table& table, TimeUnit unit, size_t width, Sink& sink) {
  write_text(table, unit, width, sink);
}

void write_table(const Table& table, TableFormat format, TimeUnit unit, Sink& sink) {
  switch (format) {
    case TableFormat::Text: write_text(table, unit, 0, sink); break;
    case TableFormat::Csv: write_csv(table, unit, sink); break;
    case TableFormat::Json: write_json(table, sink); break;
  }
}

}  // namespace prof::analyzer
