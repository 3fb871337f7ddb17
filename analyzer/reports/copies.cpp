// copies: what was copied and set, in which direction, how fast, and how much of it kept the GPU from computing?
// Bandwidth is Σ bytes / Σ time. Exposed time: the union of the row's operations, minus the union of all kernels and
// memsets of the device.
#include "analyzer/analysis/idle/gap_text.h"
#include "analyzer/analysis/stacks/stack_groups.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/op_idle.h"
#include "analyzer/reports/reports.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace prof::analyzer {

namespace {

constexpr uint64_t kSmallBytes = 64 << 10;

struct CopySum {
  uint64_t count = 0, bytes = 0, small = 0;
  int64_t time_ns = 0, small_ns = 0, longest_ns = 0;
  std::vector<Interval> times;
};

// (device, fill?, copy kind, source memory, destination memory, group of its stack)
using CopyKey = std::tuple<uint32_t, bool, uint32_t, uint32_t, uint32_t, uint32_t>;

CopyKey key_of(uint32_t device, const GpuOperation& operation, uint32_t stack) {
  if (operation.kind() == GpuKind::Fill) return {device, true, 0, 0, operation.memory_kind(), stack};
  return {device, false, operation.copy_kind(), operation.source_memory(), operation.destination_memory(), stack};
}

}  // namespace

Table report_copies(const AnalysisInput& input) {
  constexpr uint32_t kPageable = 1;  // CUPTI's memory kind
  const Trace& trace = input.trace;
  StackGroups stacks(input.views, StackGroups::parse_only("copies", input.options.group_by));
  Table table("copies", "Copies and memsets by direction and memory kind");
  table.add_columns({ColumnId::pid, ColumnId::device_name, ColumnId::direction, ColumnId::source_memory,
                     ColumnId::destination_memory, ColumnId::pageable, ColumnId::count, ColumnId::bytes, ColumnId::time,
                     ColumnId::max, ColumnId::bandwidth_gb_per_s, ColumnId::small, ColumnId::small_percent,
                     ColumnId::small_time_percent, ColumnId::exposed, ColumnId::exposed_percent});
  stacks.add_column(table);
  table.notes.push_back(
      "small: below 64 KiB; exposed: while no kernel or memset ran on the device, of the time of the row's union");

  const OpWindows windows = op_windows(input);
  table.notes.push_back(windows.note);
  std::map<CopyKey, CopySum> sums;
  std::vector<std::vector<Interval>> computing(trace.devices.size());  // by physical GPU, of all streams
  for (const Stream& stream : trace.streams) {
    if (stream.operations.size() == 0) continue;  // its device may not exist
    const bool selected = input.selection.has_stream(trace, stream);
    const uint32_t gpu = trace.device(stream.device).physical;
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
      const GpuOperation& operation = trace.operations[row];
      if (operation.kind() != GpuKind::Copy) computing[gpu].push_back({operation.start_ns, operation.end_ns});
      if (operation.has_kernel() || !selected || !input.selection.nvtx.has_operation(row)) continue;
      const bool inside = windows.inside.overlap_ns(operation.start_ns, operation.end_ns) > 0 ||
                          (operation.end_ns <= operation.start_ns && windows.inside.contains(operation.start_ns));
      if (!inside) continue;
      CopySum& sum = sums[key_of(index(stream.device), operation, stacks.of_operation(operation))];
      const int64_t ns = std::max<int64_t>(0, operation.duration_ns());
      ++sum.count;
      sum.bytes += operation.bytes;
      sum.longest_ns = std::max(sum.longest_ns, ns);
      sum.time_ns = add_saturated(sum.time_ns, ns);
      if (operation.bytes < kSmallBytes) {
        ++sum.small;
        sum.small_ns = add_saturated(sum.small_ns, ns);
      }
      sum.times.push_back({operation.start_ns, operation.end_ns});
    }
  }
  std::vector<IntervalSet> busy;
  for (std::vector<Interval>& intervals : computing) busy.emplace_back(std::move(intervals));
  std::vector<std::pair<CopyKey, CopySum*>> rows;
  for (auto& [key, sum] : sums) rows.emplace_back(key, &sum);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second->time_ns > b.second->time_ns; });
  for (const auto& [key, sum] : rows) {
    const auto& [device_row, fill, kind, source, destination, stack] = key;
    const Device& device = trace.devices[device_row];
    Table::Row row = table.row();
    row.add_owner(device.process).add(std::string_view(device_text(device)));
    if (fill) {
      row.add(std::string_view("memset")).empty();
    } else {
      row.add(copy_direction_name(kind)).add(memory_kind_name(source));
    }
    row.add(memory_kind_name(destination));
    row.add_if(source == kPageable || destination == kPageable, std::string_view("yes"));
    row.add(sum->count).add(sum->bytes).add(sum->time_ns).add(sum->longest_ns);
    if (sum->time_ns > 0) {
      row.add(static_cast<double>(sum->bytes) / static_cast<double>(sum->time_ns));
    } else {
      row.empty();
    }
    row.add(sum->small).add(100 * static_cast<double>(sum->small) / static_cast<double>(sum->count));
    if (sum->time_ns > 0) {
      row.add(100 * static_cast<double>(sum->small_ns) / static_cast<double>(sum->time_ns));
    } else {
      row.empty();
    }
    const IntervalSet times(std::move(sum->times));
    const int64_t exposed_ns = times.subtract(busy[device.physical]).length_ns();
    if (fill) {  // a memset must not cover itself
      row.empty().empty();
    } else if (times.length_ns() > 0) {
      row.add(exposed_ns).add(100 * static_cast<double>(exposed_ns) / static_cast<double>(times.length_ns()));
    } else {
      row.add(exposed_ns).empty();
    }
    stacks.add_cell(row, stack);
  }
  return table;
}

}  // namespace prof::analyzer
