// op-idle-trace: the numbers of op-idle for every single op, in order of start.
#include "analyzer/analysis/idle/gap_text.h"
#include "analyzer/reports/op_idle.h"
#include "analyzer/reports/reports.h"

#include <algorithm>

namespace prof::analyzer {

Table report_op_idle_trace(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  const bool reference = input.options.definitions == Definitions::Reference;
  Table table("op-idle-trace", "Queue depth, idle and starved time of every op");
  table.add_columns({ColumnId::start, ColumnId::duration, ColumnId::pid, ColumnId::tid, ColumnId::device_name,
                     ColumnId::waiting, ColumnId::outstanding, ColumnId::idle, ColumnId::idle_percent,
                     ColumnId::charged, ColumnId::starved, ColumnId::starved_percent, ColumnId::level, ColumnId::name});

  std::vector<OpIdle> ops;
  std::vector<std::string> gpus;
  table.notes.push_back(for_each_op(input, [&](const OpIdle& op, const DeviceIdle* device) {
    if (device != nullptr && op.gpu >= gpus.size()) gpus.resize(op.gpu + 1);
    if (device != nullptr && gpus[op.gpu].empty()) gpus[op.gpu] = device_text(trace.device(device->device()));
    ops.push_back(op);
  }));
  std::stable_sort(ops.begin(), ops.end(), [&](const OpIdle& a, const OpIdle& b) {
    return trace.ranges[a.range].begin_ns < trace.ranges[b.range].begin_ns;
  });
  auto add = [reference, &trace, gpus = std::move(gpus)](const OpIdle& op, Table::Row& row) {
    const Range& range = trace.ranges[op.range];
    const Thread& thread = trace.thread(range.thread);
    row.add(range.begin_ns).add(range.end_ns - range.begin_ns);
    row.add_owner(thread.process).add(thread.tid);
    const double inside = static_cast<double>(op.inside_ns);
    if (op.gpu == kNone) {
      row.empty();
    } else {
      row.add(std::string_view(gpus[op.gpu]));
    }
    row.add(op.waiting);
    row.add_if(!reference, op.outstanding);
    row.add(op.idle_ns);
    if (op.inside_ns > 0) {
      row.add(100 * static_cast<double>(op.idle_ns) / inside);
    } else {
      row.empty();
    }
    row.add_if(!reference, op.charged_ns);
    if (reference || op.inside_ns == 0) {
      row.empty().empty();
    } else {
      row.add(op.starved_ns).add(100 * static_cast<double>(op.starved_ns) / inside);
    }
    if (range.style == RangeStyle::StartEnd) {
      row.empty();
    } else {
      row.add(static_cast<uint32_t>(range.level));
    }
    row.add(trace.range_name(range));
  };
  table.list(std::move(ops), std::move(add));
  return table;
}

}  // namespace prof::analyzer
