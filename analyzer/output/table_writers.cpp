// The three forms of a table.
#include "analyzer/output/json_text.h"
#include "analyzer/output/nsys_text.h"
#include "analyzer/output/sink.h"
#include "analyzer/output/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace prof::analyzer {

namespace {

constexpr std::string_view kUnitNames[] = {"", "ns", "us", "ms", "s"};

// Columns of a terminal the text takes, one per character.
size_t display_width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string plain_cell(const Table& table, const TableColumn& column, int64_t cell, TimeUnit unit) {
  if (cell == kEmptyCell) return {};
  switch (column.type) {
    case CellType::Text: return std::string(table.text(cell));
    case CellType::Count: return fmt::format("{}", cell);
    case CellType::Nanoseconds: return time_in(cell, unit);
    case CellType::MeanNanoseconds: return mean_time_in(Table::real(cell), unit);
    case CellType::Real: return fmt::format("{:.{}f}", Table::real(cell), column.decimals);
  }
  return {};
}

void write_end(const Table& table, Sink& sink) {
  if (!table.footers.empty()) sink.write("\n");
  for (const std::string& footer : table.footers) sink.write(fmt::format("{}\n", footer));
  sink.write(fmt::format("\n{}\n", table.coverage));
}

void write_text(const Table& table, TimeUnit unit, Sink& sink) {
  if (table.nsys_look) return write_nsys_text(table, unit, sink);
  sink.write(fmt::format("{} ({})\n", table.title(), table.name()));
  for (const std::string& note : table.notes) sink.write(fmt::format("{}\n", note));
  sink.write("\n");
  if (table.text_form) {
    sink.write(table.text_form(table));
    write_end(table, sink);
    return;
  }
  const std::vector<TableColumn>& columns = table.columns();
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  for (const TableColumn& column : columns) {
    const bool with_unit = is_time(column.type) && unit != TimeUnit::Auto;
    titles.push_back(with_unit ? fmt::format("{} ({})", column.title, kUnitNames[static_cast<int>(unit)])
                               : column.title);
    size_t width = display_width(titles.back());
    for (const int64_t cell : column.cells) {
      const std::string text = plain_cell(table, column, cell, unit);
      width = std::max(width, display_width(column.type == CellType::Text ? readable_utf8(text) : text));
    }
    widths.push_back(width);
  }
  const auto put = [&](size_t i, std::string_view text) {
    const std::string padding(widths[i] - display_width(text), ' ');
    const bool last = i + 1 == columns.size();
    sink.write(i == 0 ? "" : "  ");
    if (columns[i].type == CellType::Text) {
      sink.write(text);
      if (!last) sink.write(padding);
    } else {
      sink.write(padding);
      sink.write(text);
    }
    if (last) sink.write("\n");
  };
  for (size_t i = 0; i < columns.size(); ++i) put(i, titles[i]);
  for (size_t i = 0; i < columns.size(); ++i) {
    sink.write(i == 0 ? "" : "  ");
    sink.write(std::string(widths[i], '-'));
  }
  sink.write("\n");
  for (size_t row = 0; row < table.rows(); ++row) {
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::string text = plain_cell(table, columns[i], columns[i].cells[row], unit);
      put(i, columns[i].type == CellType::Text ? readable_utf8(text) : text);
    }
  }
  write_end(table, sink);
}

std::string csv_text(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

void write_csv(const Table& table, TimeUnit unit, Sink& sink) {
  if (unit == TimeUnit::Auto) unit = TimeUnit::Ns;
  const std::vector<TableColumn>& columns = table.columns();
  for (size_t i = 0; i < columns.size(); ++i) {
    sink.write(i == 0 ? "" : ",");
    sink.write(csv_text(is_time(columns[i].type)
                            ? fmt::format("{} ({})", columns[i].title, kUnitNames[static_cast<int>(unit)])
                            : columns[i].title));
  }
  sink.write("\n");
  for (size_t row = 0; row < table.rows(); ++row) {
    for (size_t i = 0; i < columns.size(); ++i) {
      sink.write(i == 0 ? "" : ",");
      const std::string text = plain_cell(table, columns[i], columns[i].cells[row], unit);
      sink.write(columns[i].type == CellType::Text ? csv_text(readable_utf8(text)) : text);
    }
    sink.write("\n");
  }
}

void write_json(const Table& table, Sink& sink) {
  sink.write(
      fmt::format("{{\"report\":{},\"title\":{},\"notes\":[", json_string(table.name()), json_string(table.title())));
  for (size_t i = 0; i < table.notes.size(); ++i) {
    sink.write(i == 0 ? "" : ",");
    sink.write(json_string(table.notes[i]));
  }
  sink.write("],\"rows\":[");
  std::vector<std::string> keys;
  for (const TableColumn& column : table.columns()) {
    keys.push_back(json_string(is_time(column.type) ? column.key + "_ns" : column.key) + ":");
  }
  for (size_t row = 0; row < table.rows(); ++row) {
    sink.write(row == 0 ? "\n{" : ",\n{");
    for (size_t i = 0; i < keys.size(); ++i) {
      const TableColumn& column = table.columns()[i];
      const int64_t cell = column.cells[row];
      sink.write(i == 0 ? "" : ",");
      sink.write(keys[i]);
      char number[32];
      if (cell == kEmptyCell) {
        sink.write("null");
      } else if (column.type == CellType::Text) {
        sink.write(json_string(table.text(cell)));
      } else {
        char* end = is_real(column.type) ? put_double(number, Table::real(cell)) : put_signed(number, cell);
        sink.write({number, static_cast<size_t>(end - number)});
      }
    }
    sink.write("}");
  }
  sink.write("\n],");
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

std::string scaled_time(int64_t ns) {
  const int64_t magnitude = ns < 0 ? -ns : ns;
  if (magnitude < 1000) return fmt::format("{}ns", ns);
  const char* unit = "us";
  double value = static_cast<double>(ns) / 1e3;
  if (magnitude >= 1'000'000'000) {
    unit = "s";
    value = static_cast<double>(ns) / 1e9;
  } else if (magnitude >= 1'000'000) {
    unit = "ms";
    value = static_cast<double>(ns) / 1e6;
  }
  const double size = std::fabs(value);
  const int decimals = size < 10 ? 4 : size < 100 ? 3 : size < 1000 ? 2 : size < 10000 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, decimals, unit);
}

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
  constexpr double kMost = 9e18;  // what does not fit whole ns keeps its digits
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
