#include "analyzer/table/nsys_text.h"

#include "analyzer/base/json/json_text.h"
#include "analyzer/base/sink.h"
#include "analyzer/table/aligned_rows.h"
#include "analyzer/table/cell_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

namespace {

constexpr std::string_view kNsysUnitNames[] = {"ns", "ns", "us", "ms", "s"};
constexpr size_t kLongestNsysText = 100;

}  // namespace

void write_nsys_text(const Table& table, TimeUnit unit, Sink& sink) {
  if (unit == TimeUnit::Auto) unit = TimeUnit::Ns;
  sink.write(fmt::format(" ** {} ({}):\n\n", table.title(), table.name()));
  const std::vector<TableColumn>& columns = table.columns();
  std::vector<std::string> titles;
  for (const TableColumn& column : columns) {
    titles.push_back(is_time(column.type)
                         ? fmt::format("{} ({})", column.title, kNsysUnitNames[static_cast<size_t>(unit)])
                         : column.title);
  }
  const RowWriter rows(table, unit,
                       {[](std::string&& text) { return cut_text(std::move(text), kLongestNsysText); }, true});
  const std::vector<size_t> widths = rows.widths(titles);
  LineBuffer head;
  for (size_t i = 0; i < columns.size(); ++i) {
    const size_t padding = widths[i] - display_width(titles[i]);
    (head.spaces((i == 0 ? 1 : 2) + padding / 2) += titles[i]).spaces(padding - padding / 2);
  }
  head.trim_spaces();
  head += '\n';
  for (size_t i = 0; i < columns.size(); ++i) (head += i == 0 ? " " : "  ") += std::string(widths[i], '-');
  head += '\n';
  sink.write(head.view());
  const AlignedRows lines(columns, widths, 1);
  rows.write(sink, [&](const CellTexts& texts, size_t first, size_t last, LineBuffer& into) {
    lines.put(texts, first, last, into);
  });
  if (!table.notes.empty()) sink.write("\n");
  for (const std::string& note : table.notes) sink.write(readable_lines(note) + "\n");
  sink.write(fmt::format("\n{}\n", readable_lines(table.coverage)));
}

}  // namespace prof::analyzer
