#include "analyzer/reports/nsys/nsys_tables.h"

#include "analyzer/table/cell_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace prof::analyzer {

Table nsys_table(std::string name, std::string title) {
  Table table(std::move(name), std::move(title));
  table.nsys_look = true;
  return table;
}

void add_statistics_columns(Table& table) {
  table.add_columns(
      {ColumnId::nsys_avg, ColumnId::nsys_med, ColumnId::nsys_min, ColumnId::nsys_max, ColumnId::nsys_stddev});
}

void add_statistics(Table::Row& row, Values& values) {
  if (values.empty()) {
    row.empty().empty().empty().empty().empty();
    return;
  }
  const Statistics statistics = values.statistics();
  row.add(statistics.mean).add(statistics.median).add(statistics.min).add(statistics.max).add(statistics.stddev);
}

void add_sum_columns(Table& table, ColumnId count, const Estimates* estimates) {
  table.add_columns({ColumnId::nsys_time_percent, ColumnId::nsys_total_time, count});
  add_statistics_columns(table);
  if (estimates != nullptr) estimates->add_columns(table);
}

void add_sum(Table::Row& row, Values& values, double all) {
  row.add_percent(values.total(), all);
  row.add(values.total()).add(values.count());
  add_statistics(row, values);
}

double total_of(const std::vector<NsysLine>& lines) {
  double total = 0;
  for (const NsysLine& line : lines) total += static_cast<double>(line.values.total());
  return total;
}

void sort_lines(std::vector<NsysLine>& lines) {
  std::stable_sort(lines.begin(), lines.end(), [](const NsysLine& a, const NsysLine& b) {
    if (a.values.total() != b.values.total()) return a.values.total() > b.values.total();
    if (a.values.count() != b.values.count()) return a.values.count() > b.values.count();
    return std::lexicographical_compare(a.texts.rbegin(), a.texts.rend(), b.texts.rbegin(), b.texts.rend());
  });
}

void add_lines(Table& table, std::vector<NsysLine>& lines, const Estimates* estimates) {
  sort_lines(lines);
  const double all = total_of(lines);
  for (NsysLine& line : lines) {
    Table::Row row = table.row();
    add_sum(row, line.values, all);
    if (estimates != nullptr) estimates->add_cells(row, line.number);
    for (const std::string& text : line.texts) row.add(std::string_view(text));
  }
  if (estimates != nullptr) estimates->add_notes(table);
}

std::string_view nsys_kernel_name(const AnalysisInput& input, const GpuOperation& kernel) {
  const NameForm form = input.options.names_given ? input.options.names : NameForm::Full;
  const KernelNames& names = input.views.names();
  if (form == NameForm::Full) {
    const StringId demangled = input.trace.kernels[index(names.named_by(kernel))].demangled;
    if (index(demangled) != 0) return input.trace.text(demangled);
  }
  return names.name(kernel, form);
}

int64_t nsys_session_offset(const Trace& trace) {
  if (trace.processes.empty()) return 0;
  const Process& first = trace.processes.front();
  const bool one_export = first.format == "nsys-sqlite" &&
                          std::all_of(trace.processes.begin(), trace.processes.end(), [&](const Process& each) {
                            return each.format == first.format && each.source == first.source;
                          });
  return one_export ? static_cast<int64_t>(trace.start_realtime_ns) - first.zero_realtime_ns : 0;
}

void note_session_offset(Table& table, int64_t offset_ns) {
  if (offset_ns == 0) return;
  table.notes.push_back(
      fmt::format("times count from the session's start, as in nsys: {} more than from the trace's zero, from which "
                  "--from and --to count",
                  scaled_time(offset_ns)));
}

std::string nsys_memory_operation(const GpuOperation& operation) {
  static constexpr std::array<std::string_view, 14> kCopies = {
      "Unknown",        "Host-to-Device",         "Device-to-Host",         "Host-to-Array",           "Array-to-Host",
      "Array-to-Array", "Array-to-Device",        "Device-to-Array",        "Device-to-Device",        "Host-to-Host",
      "Peer-to-Peer",   "Unified Host-to-Device", "Unified Device-to-Host", "Unified Device-to-Device"};
  if (operation.kind() == GpuKind::Fill) return "[CUDA memset]";
  const uint32_t kind = operation.copy_kind();
  return fmt::format("[CUDA memcpy {}]", kCopies[kind < kCopies.size() ? kind : 0]);
}

std::string_view nsys_api_name(std::string_view name) {
  constexpr size_t kSuffix = 6;  // "_v7000"
  if (name.size() > kSuffix && name.substr(name.size() - kSuffix, 2) == "_v") name.remove_suffix(kSuffix);
  return name.empty() ? "[unknown call]" : name;
}

std::string nsys_range_name(const Trace& trace, const Range& range) {
  return fmt::format("{}:{}", trace.text(trace.labels[index(range.label)].domain), trace.range_name(range));
}

std::string_view nsys_style(const Range& range) {
  return range.style == RangeStyle::PushPop ? "PushPop" : range.style == RangeStyle::StartEnd ? "StartEnd" : "Mark";
}

NsysNesting::NsysNesting(const Trace& trace)
    : parent_(trace.ranges.size(), kNone),
      level_(trace.ranges.size()),
      children_(trace.ranges.size()),
      children_ns_(trace.ranges.size()) {
  std::vector<uint32_t> rows, open;
  for (const Thread& thread : trace.threads) {
    rows.clear();
    open.clear();
    for (uint32_t row = thread.ranges.first; row < thread.ranges.last; ++row) {
      if (is_nsys_range(trace.ranges[row]) && trace.ranges[row].style == RangeStyle::PushPop) rows.push_back(row);
    }
    // Of ranges that begin together, the longer one is outside.
    std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
      const Range &first = trace.ranges[a], &second = trace.ranges[b];
      return first.begin_ns != second.begin_ns ? first.begin_ns < second.begin_ns : first.end_ns > second.end_ns;
    });
    for (const uint32_t row : rows) {
      const Range& range = trace.ranges[row];
      while (!open.empty() && trace.ranges[open.back()].end_ns < range.end_ns) open.pop_back();
      if (!open.empty()) {
        parent_[row] = open.back();
        ++children_[open.back()];
        grow(children_ns_[open.back()], time_between(range.begin_ns, range.end_ns));
      }
      level_[row] = static_cast<uint32_t>(open.size());
      open.push_back(row);
    }
  }
}

std::string NsysNesting::stack(uint32_t row) const {
  std::vector<uint32_t> chain;
  for (; row != kNone; row = parent_[row]) chain.push_back(row);
  std::string text;
  for (size_t i = chain.size(); i-- > 0;) text += fmt::format(":{}", chain[i] + 1);
  return text;
}

void add_range_columns(Table& table, std::initializer_list<ColumnId> more) {
  table.add_columns({ColumnId::nsys_pid, ColumnId::nsys_tid});
  table.add_columns(more);
  table.add_columns({ColumnId::nsys_level, ColumnId::nsys_children, ColumnId::nsys_range_id, ColumnId::nsys_parent,
                     ColumnId::nsys_range_stack});
}

void add_range_place(Table::Row& row, const Trace& trace, const Range& range) {
  const Thread& thread = trace.thread(range.thread);
  row.add(trace.processes[index(thread.process)].pid).add(thread.tid);
}

void add_range_cells(Table::Row& row, const NsysNesting& nesting, uint32_t range_row) {
  const uint32_t parent = nesting.parent(range_row);
  row.add(nesting.level(range_row)).add(nesting.children(range_row)).add(range_row + 1);
  row.add_if(parent != kNone, parent + 1);
  row.add(std::string_view(nesting.stack(range_row)));
}

bool is_nsys_range(const Range& range) { return range.kind != RangeKind::Python && range.kind != RangeKind::Overhead; }

std::string nsys_shape(const uint32_t (&shape)[3]) {
  return fmt::format("{:4d} {:4d} {:4d}", shape[0], shape[1], shape[2]);
}

double megabytes(uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

std::vector<uint32_t> selected_ranges(const AnalysisInput& input, Order order) {
  const Trace& trace = input.trace;
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
    const Range& range = trace.ranges[row];
    if (is_nsys_range(range) && input.selection.nvtx.has_range(row) &&
        input.selection.has_thread(trace.thread(range.thread)) &&
        input.selection.in_window(range.begin_ns, range.end_ns))
      rows.push_back(row);
  }
  if (order == Order::Start)
    std::stable_sort(rows.begin(), rows.end(),
                     [&](uint32_t a, uint32_t b) { return trace.ranges[a].begin_ns < trace.ranges[b].begin_ns; });
  return rows;
}

}  // namespace prof::analyzer
