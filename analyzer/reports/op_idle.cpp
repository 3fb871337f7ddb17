// op-idle: what was the queue depth when each op started, and for how much of the op was the GPU idle or starved? A row
// is a GPU and an op name.
#include "analyzer/reports/op_idle.h"

#include "analyzer/analysis/idle/gap_division.h"
#include "analyzer/analysis/idle/gap_text.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/base/saturated.h"
#include "analyzer/model/event_names.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace prof::analyzer {

namespace {

struct OpIdleSum {
  uint64_t calls = 0, waiting = 0;
  uint32_t waiting_min = UINT32_MAX, waiting_max = 0;
  int64_t inside_ns = 0, idle_ns = 0, charged_ns = 0, starved_ns = 0, self_ns = 0;
};

double percent_of(int64_t part, int64_t whole) { return 100 * static_cast<double>(part) / static_cast<double>(whole); }

}  // namespace

OpWindows op_windows(const AnalysisInput& input) {
  const std::vector<Window> windows = report_windows(input);
  std::vector<Interval> parts;
  for (const Window& window : windows) parts.push_back({window.begin_ns, window.end_ns});
  const std::string note = windows.empty()       ? "no GPU operation in the window"
                           : windows.size() == 1 ? window_note(windows[0])
                                                 : fmt::format("{} windows", windows.size());
  return {IntervalSet(std::move(parts)), note};
}

std::unordered_map<uint64_t, int64_t> charged_idle(const AnalysisInput& input, const IntervalSet& inside) {
  std::unordered_map<uint64_t, int64_t> charged;
  if (inside.empty()) return charged;
  const Trace& trace = input.trace;
  Selection of_all = input.selection;
  of_all.threads.clear();
  of_all.nvtx = {};
  const Interval hull{inside.parts().front().begin_ns, inside.parts().back().end_ns};
  divide_gaps(trace, input.views, of_all, hull, [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
    for (const GapPiece& piece : pieces) {
      uint32_t op = piece.range;
      while (op != kNone && !is_op(trace.ranges[op])) op = trace.ranges[op].parent;
      if (op == kNone) continue;
      const int64_t ns = inside.overlap_ns(piece.begin_ns, piece.end_ns);
      if (ns != 0) charged[charged_key(gap.device, op)] += ns;
    }
  });
  return charged;
}

Table report_op_idle(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  const bool reference = input.options.definitions == Definitions::Reference;
  Table table("op-idle", "Queue depth, idle and starved time of ops by name");
  table.add_columns({ColumnId::pid, ColumnId::device_name, ColumnId::calls, ColumnId::time, ColumnId::self,
                     ColumnId::idle, ColumnId::idle_percent, ColumnId::charged, ColumnId::starved,
                     ColumnId::starved_percent, ColumnId::waiting_mean, ColumnId::waiting_min, ColumnId::waiting_max,
                     ColumnId::name});

  const EventNames& names = input.views.event_names();
  const Column<int64_t> self = self_times(trace);
  std::map<std::tuple<uint32_t, uint32_t, StringId>, OpIdleSum> sums;  // (GPU, process, name)
  std::vector<std::string> gpus;
  table.notes.push_back(for_each_op(input, [&](const OpIdle& op, const DeviceIdle* device) {
    const Range& range = trace.ranges[op.range];
    if (device != nullptr && op.gpu >= gpus.size()) gpus.resize(op.gpu + 1);
    if (device != nullptr && gpus[op.gpu].empty()) gpus[op.gpu] = device_text(trace.device(device->device()));
    OpIdleSum& sum = sums[{op.gpu, index(trace.thread(range.thread).process), names.of(range)}];
    ++sum.calls;
    sum.waiting += op.waiting;
    sum.waiting_min = std::min(sum.waiting_min, op.waiting);
    sum.waiting_max = std::max(sum.waiting_max, op.waiting);
    sum.inside_ns = add_saturated(sum.inside_ns, op.inside_ns);
    sum.idle_ns = add_saturated(sum.idle_ns, op.idle_ns);
    sum.charged_ns = add_saturated(sum.charged_ns, op.charged_ns);
    sum.starved_ns = add_saturated(sum.starved_ns, op.starved_ns);
    sum.self_ns = add_saturated(sum.self_ns, self[op.range]);
  }));
  if (!reference) {
    table.notes.push_back(
        "Time, Idle, Starved: inside the window; idle: nothing ran on the device; starved: nor waited");
  }
  std::vector<decltype(sums)::const_iterator> rows;
  for (auto each = sums.cbegin(); each != sums.cend(); ++each) rows.push_back(each);
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a->second.idle_ns, -a->second.starved_ns) <
           std::tuple(-b->second.idle_ns, -b->second.starved_ns);
  });
  for (const auto& each : rows) {
    const auto& [gpu, process, name] = each->first;
    const OpIdleSum& sum = each->second;
    Table::Row row = table.row();
    row.add_owner(process);
    if (gpu == kNone) {
      row.empty();
    } else {
      row.add(std::string_view(gpus[gpu]));
    }
    row.add(sum.calls).add(sum.inside_ns).add(sum.self_ns).add(sum.idle_ns);
    row.add_if(sum.inside_ns > 0, percent_of(sum.idle_ns, sum.inside_ns));
    row.add_if(!reference, sum.charged_ns);
    if (reference || sum.inside_ns == 0) {
      row.empty().empty();
    } else {
      row.add(sum.starved_ns).add(percent_of(sum.starved_ns, sum.inside_ns));
    }
    row.add(static_cast<double>(sum.waiting) / static_cast<double>(sum.calls))
        .add(sum.waiting_min)
        .add(sum.waiting_max);
    row.add(names.text(name));
  }
  return table;
}

}  // namespace prof::analyzer
