// idle-gaps: which single gaps cost the most, and what should have happened earlier? A row is one gap, the longest
// first. If grouped by stacks, a row is all gaps of a device with the same cause and the same code.
#include "analyzer/analysis/idle/gap_text.h"
#include "analyzer/analysis/idle/gaps.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/analysis/stacks/stack_groups.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

namespace prof::analyzer {

namespace {

constexpr std::string_view kClasses[] = {"unlinked", "host_wait", "short", "other"};

// Several threads create rows, so stacks are looked up before.
struct ListedGap {
  Gap gap;
  StringId code{};
};

// The code of the culprit's call. Without a culprit, the code of the late launch.
std::string culprit_code(CallStacks& stacks, const Gap& gap) {
  StackId stack = gap.call == kNone ? StackId{} : stacks.of_call(gap.call);
  if (stack == StackId{} && gap.launch != kNone) stack = stacks.of_call(gap.launch);
  return stacks.best(stack);
}

void add_gap(Table::Row& row, const AnalysisInput& input, const Gap& gap, const std::string_view* code) {
  const Trace& trace = input.trace;
  const Device& device = trace.device(gap.device);
  row.add(gap.begin_ns).add(gap.duration_ns());
  row.add(trace.processes[index(device.process)].pid).add(std::string_view(device_text(device)));
  row.add(gap_cause_text(gap.cause));
  if (gap.operation == kNone) {
    row.empty();
  } else {
    row.add(kClasses[static_cast<size_t>(gap_class(trace, gap))]);
  }
  row.add_if(gap.launch != kNone, gap.host_ns);
  if (gap.call == kNone) {
    row.empty().empty();
  } else {
    row.add(trace.api_name(trace.host[gap.call])).add(trace.host[gap.call].duration_ns());
  }
  row.add(std::string_view(range_text(trace, gap.range)));
  if (code != nullptr) row.add(*code);
  if (gap.thread == kNone) {
    row.empty();
  } else {
    row.add(trace.threads[gap.thread].tid);
  }
  for (const uint32_t each : {gap.previous, gap.operation}) {
    if (each == kNone) {
      row.empty().empty();
    } else {
      const GpuOperation& operation = trace.operations[each];
      row.add(operation_name(input.views.names(), operation, input.options.names));
      row.add(trace.stream(operation.stream()).number);
    }
  }
}

// Returns the gaps in the windows of the report, the longest first. Adds a note about the windows to `table`.
std::vector<Gap> selected_gaps(const AnalysisInput& input, Table& table) {
  std::vector<Window> windows = report_windows(input);
  if (windows.empty()) {
    table.notes.push_back("no GPU operation in the window");
    return {};
  }
  std::vector<Interval> wanted;
  for (const Window& window : windows) wanted.push_back({window.begin_ns, window.end_ns});
  table.notes.push_back(windows.size() == 1 ? window_note(windows[0]) : fmt::format("{} windows", windows.size()));
  const IntervalSet inside(std::move(wanted));
  const Interval hull{inside.parts().front().begin_ns, inside.parts().back().end_ns};
  std::vector<Gap> gaps = find_gaps(input.trace, input.views, input.selection, hull);
  std::erase_if(gaps, [&](const Gap& gap) { return inside.overlap_ns(gap.begin_ns, gap.end_ns) == 0; });
  std::stable_sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) {
    return a.duration_ns() != b.duration_ns() ? a.duration_ns() > b.duration_ns() : a.begin_ns < b.begin_ns;
  });
  return gaps;
}

Table grouped(const AnalysisInput& input, uint32_t frames) {
  struct Sum {
    uint64_t gaps = 0;
    int64_t time_ns = 0, longest_ns = 0;
  };
  StackGroups stacks(input.views, frames);
  Table table("idle-gaps", "Gaps of devices by the code that made the next launch late");
  table.add_columns(
      {ColumnId::pid, ColumnId::device_name, ColumnId::cause, ColumnId::gaps, ColumnId::time, ColumnId::longest});
  stacks.add_column(table);
  using Group = std::tuple<uint32_t, GapCause, uint32_t>;  // device, cause, group of the stack
  std::map<Group, Sum> sums;
  for (const Gap& gap : selected_gaps(input, table)) {
    uint32_t stack = gap.call == kNone ? 0 : stacks.of_call(gap.call);
    if (stack == 0 && gap.launch != kNone) stack = stacks.of_call(gap.launch);
    Sum& sum = sums[{index(gap.device), gap.cause, stack}];
    ++sum.gaps;
    sum.time_ns = add_saturated(sum.time_ns, gap.duration_ns());
    sum.longest_ns = std::max(sum.longest_ns, gap.duration_ns());
  }
  std::vector<std::pair<Group, Sum>> rows(sums.begin(), sums.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.time_ns > b.second.time_ns; });
  for (const auto& [key, sum] : rows) {
    const auto& [device, cause, stack] = key;
    Table::Row row = table.row();
    row.add(input.trace.processes[index(input.trace.devices[device].process)].pid);
    row.add(std::string_view(device_text(input.trace.devices[device]))).add(gap_cause_text(cause));
    row.add(sum.gaps).add(sum.time_ns).add(sum.longest_ns);
    stacks.add_cell(row, stack);
  }
  return table;
}

}  // namespace

Table report_idle_gaps(const AnalysisInput& input) {
  if (const uint32_t frames = StackGroups::parse_only("idle-gaps", input.options.group_by); frames != 0)
    return grouped(input, frames);
  Table table("idle-gaps", "Gaps of devices, the longest first");
  table.add_columns({ColumnId::start, ColumnId::duration, ColumnId::pid, ColumnId::device_name, ColumnId::cause,
                     ColumnId::class_, ColumnId::before_launch, ColumnId::culprit_call, ColumnId::culprit_call_time,
                     ColumnId::culprit_range});
  if (call_stacks(input.views).any()) table.add_column(ColumnId::culprit_code);
  table.add_columns(
      {ColumnId::tid, ColumnId::before, ColumnId::before_stream, ColumnId::after, ColumnId::after_stream});
  std::vector<Gap> gaps = selected_gaps(input, table);
  CallStacks& stacks = call_stacks(input.views);
  const auto codes = std::make_shared<StringTable>();
  std::vector<ListedGap> listed;
  for (const Gap& gap : gaps)
    listed.push_back({gap, stacks.any() ? codes->intern(culprit_code(stacks, gap)) : StringId{}});
  table.list(std::move(listed), [input, codes, any = stacks.any()](const ListedGap& each, Table::Row& row) {
    const std::string_view code = (*codes)[each.code];
    add_gap(row, input, each.gap, any ? &code : nullptr);
  });
  table.text_limit = 50;
  return table;
}

}  // namespace prof::analyzer
