// nvtx-trace: one row per NVTX range in order of start. The table is nsys's nvtx_pushpop_trace plus start/end ranges
// and marks.
#include "analyzer/analysis/range_state.h"
#include "analyzer/base/saturated.h"
#include "analyzer/model/event_tree.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

Table report_nvtx_trace(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table("nvtx-trace", "NVTX ranges in order of begin");
  table.add_columns({ColumnId::start, ColumnId::end, ColumnId::duration, ColumnId::children_duration,
                     ColumnId::self_duration, ColumnId::name, ColumnId::pid, ColumnId::tid, ColumnId::level,
                     ColumnId::children, ColumnId::range_id, ColumnId::parent, ColumnId::style, ColumnId::domain,
                     ColumnId::note, ColumnId::nvtx_path, ColumnId::category, ColumnId::payload});

  struct Entry {
    const Range* range;
    uint32_t id;  // row of Trace::nvtx; kNone for marks
  };
  std::vector<int64_t> child_ns(trace.ranges.size());
  std::vector<Entry> entries;
  for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
    const Range& range = trace.ranges[row];
    if (range.parent != kNone) grow(child_ns[range.parent], time_between(range.begin_ns, range.end_ns));
    entries.push_back({&range, row});
  }
  for (const Range& mark : trace.marks) entries.push_back({&mark, kNone});
  const size_t left_out = std::erase_if(entries, [](const Entry& e) { return e.range->kind == RangeKind::Overhead; });
  if (left_out != 0) table.notes.push_back(fmt::format("events of the profiler's own work, left out: {}", left_out));
  std::erase_if(entries, [&](const Entry& e) {
    const bool of_ranges = e.id != kNone ? input.selection.nvtx.has_range(e.id)
                                         : input.selection.nvtx.has_moment(e.range->thread, e.range->begin_ns);
    return !of_ranges || !input.selection.has_thread(trace.thread(e.range->thread)) ||
           !input.selection.in_window(e.range->begin_ns, e.range->end_ns);
  });
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.range->begin_ns < b.range->begin_ns; });
  auto add = [&trace, child_ns = std::move(child_ns)](const Entry& entry, Table::Row& row) {
    const Range& range = *entry.range;
    const Label& label = trace.labels[index(range.label)];
    const Thread& thread = trace.thread(range.thread);
    const int64_t duration = range.end_ns - range.begin_ns;
    const int64_t in_children = entry.id == kNone ? 0 : child_ns[entry.id];
    row.add(range.begin_ns).add(range.end_ns).add(duration).add(in_children).add(add_saturated(duration, -in_children));
    row.add(trace.text(label.text)).add_owner(thread.process).add(thread.tid);
    if (range.style == RangeStyle::PushPop) {
      row.add(uint32_t{range.level}).add(uint32_t{range.children});
    } else {
      row.empty().empty();
    }
    row.add_if(entry.id != kNone, entry.id + 1);
    row.add_if(range.parent != kNone, range.parent + 1);
    constexpr std::string_view kStyles[] = {"PushPop", "StartEnd", "Mark"};
    row.add(kStyles[static_cast<size_t>(range.style)]).add(trace.text(label.domain));
    row.add(std::string_view(range_state(trace, range)));
    row.add(std::string_view(path_text(trace, range.path)));
    row.add(std::string_view(category_text(trace, label))).add(std::string_view(payload_text(trace, range)));
  };
  table.list(std::move(entries), std::move(add));
  note_nvtx_oddities(trace, table.notes);
  return table;
}

}  // namespace prof::analyzer
