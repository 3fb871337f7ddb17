// nvtx_sum, nvtx_pushpop_sum, nvtx_startend_sum and nvtx_pushpop_trace: how long were the ranges on the host? Texts are
// used unchanged, as in nsys. Ranges of emit_nvtx() contain a number, so each has a line of its own.
#include "analyzer/analysis/range_state.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/nsys/nsys_tables.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

namespace prof::analyzer {

namespace {

enum class Styles { Both, PushPop, StartEnd };

Table range_sum(const AnalysisInput& input, std::string name, std::string title, Styles styles) {
  const Trace& trace = input.trace;
  Table table = nsys_table(std::move(name), std::move(title));
  add_sum_columns(table, ColumnId::nsys_instances);
  if (styles == Styles::Both) table.add_column(ColumnId::nsys_style);
  table.add_column(ColumnId::nsys_range_text);
  NsysLines lines;
  for (const uint32_t row : selected_ranges(input, Order::Model)) {
    const Range& range = trace.ranges[row];
    const bool nested = range.style == RangeStyle::PushPop;
    if ((styles == Styles::PushPop && !nested) || (styles == Styles::StartEnd && nested)) continue;
    lines.add(uint64_t{index(range.label)} << 1 | (nested ? 1 : 0), range.end_ns - range.begin_ns, [&] {
      std::vector<std::string> texts{nsys_range_name(trace, range)};
      if (styles == Styles::Both) texts.insert(texts.begin(), std::string(nsys_style(range)));
      return texts;
    });
  }
  add_lines(table, lines.lines);
  note_open_ranges(input.trace, table.notes);
  if (table.rows() == 0) table.notes.push_back("no such ranges in the input");
  return table;
}

}  // namespace

Table report_nsys_nvtx_sum(const AnalysisInput& input) {
  return range_sum(input, "nvtx_sum", "NVTX Range Summary", Styles::Both);
}
Table report_nsys_nvtx_pushpop_sum(const AnalysisInput& input) {
  return range_sum(input, "nvtx_pushpop_sum", "NVTX Push/Pop Range Summary", Styles::PushPop);
}
Table report_nsys_nvtx_startend_sum(const AnalysisInput& input) {
  return range_sum(input, "nvtx_startend_sum", "NVTX Start/End Range Summary", Styles::StartEnd);
}

Table report_nsys_nvtx_pushpop_trace(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table = nsys_table("nvtx_pushpop_trace", "NVTX Push/Pop Range Trace");
  table.add_columns({ColumnId::nsys_start, ColumnId::nsys_end, ColumnId::nsys_duration,
                     ColumnId::nsys_children_duration, ColumnId::nsys_self_duration, ColumnId::nsys_name});
  add_range_columns(table);
  table.add_column(ColumnId::nsys_name_tree);
  const int64_t offset_ns = nsys_session_offset(trace);
  note_session_offset(table, offset_ns);
  std::vector<uint32_t> rows = selected_ranges(input, Order::Start);
  std::erase_if(rows, [&](uint32_t row) { return trace.ranges[row].style != RangeStyle::PushPop; });
  auto add = [&trace, offset_ns, nesting = NsysNesting(trace)](uint32_t at, Table::Row& row) {
    const Range& range = trace.ranges[at];
    const std::string name = nsys_range_name(trace, range);
    const int64_t duration_ns = range.end_ns - range.begin_ns;
    row.add(range.begin_ns + offset_ns).add(range.end_ns + offset_ns).add(duration_ns).add(nesting.children_ns(at));
    row.add(add_saturated(duration_ns, -nesting.children_ns(at)));
    row.add(std::string_view(name));
    add_range_place(row, trace, range);
    add_range_cells(row, nesting, at);
    row.add(std::string_view(std::string(2 * size_t{nesting.level(at)}, '-') + name));
  };
  table.list(std::move(rows), std::move(add));
  note_open_ranges(input.trace, table.notes);
  if (table.rows() == 0) table.notes.push_back("no such ranges in the input");
  return table;
}

}  // namespace prof::analyzer
