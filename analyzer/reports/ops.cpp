// ops: operators, calls and GPU operations, averaged by name, as in torch.autograd.profiler's key_averages().table().
// The text form has the layout of that table. CSV and JSON have more columns and whole nanoseconds. Definitions:
// docs/reports/ops.md.
#include "analyzer/analysis/cost/op_averages.h"
#include "analyzer/analysis/range_state.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/reports.h"
#include "analyzer/table/torch_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

namespace {

size_t code_points(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

size_t at_most(size_t width, size_t most) { return most == 0 ? width : std::min(width, most); }

TorchLayout layout_of(const AnalysisInput& input, const OpAverages& averages, const OpGrouping& grouping) {
  TorchLayout layout;
  size_t name = 0, shapes = 0, source = 0;
  for (const OpAverage& row : averages.rows) {
    name = std::max(name, code_points(readable_utf8(row.name)));
    shapes = std::max(shapes, code_points(row.shapes));
    for (const std::string& frame : row.stack) source = std::max(source, code_points(frame));
    layout.with_device = layout.with_device || row.self_device_ns > 0;
    layout.with_device_memory = layout.with_device_memory || row.self_memory.device > 0;
    if (row.flops != 0) layout.least_flops = std::min(layout.least_flops - 1, row.flops - 1) + 1;
  }
  layout.name_most = input.options.max_name_column_width;
  layout.name_width = at_most(name + 4, input.options.max_name_column_width);
  layout.shapes_width = at_most(shapes + 4, input.options.max_shapes_column_width);
  layout.source_width = at_most(source + 4, input.options.max_src_column_width);
  layout.with_memory = !input.trace.memory.empty();
  layout.with_shapes = shapes != 0;
  layout.with_stack = source != 0;
  layout.with_node = grouping.node;
  layout.with_thread = grouping.thread;
  layout.with_domain = grouping.domain;
  layout.top_level_only = input.options.top_level;
  layout.self_cpu_ns = averages.self_cpu_ns;
  layout.self_device_ns = averages.self_device_ns;
  return layout;
}

// The rank of the process. Without it, the number of the input.
int64_t node_id(const Trace& trace, uint32_t process) { return trace.processes[process].rank.value_or(process); }

void declare_operator_columns(Table& table, const Estimates& estimates) {
  table.add_columns({ColumnId::name, ColumnId::self_cpu_percent, ColumnId::self_cpu_time_total, ColumnId::cpu_percent,
                     ColumnId::cpu_time_total, ColumnId::cpu_time, ColumnId::self_device_time_total,
                     ColumnId::self_device_percent, ColumnId::device_time_total, ColumnId::device_time});
  estimates.add_columns(table, {ColumnId::estimated_self_device_count, ColumnId::estimated_self_device_total,
                                ColumnId::estimated_self_device_half_width, ColumnId::self_device_not_met});
  estimates.add_columns(table, {ColumnId::estimated_device_count, ColumnId::estimated_device_total,
                                ColumnId::estimated_device_half_width, ColumnId::device_not_met});
  table.add_columns({ColumnId::cpu_memory_usage, ColumnId::self_cpu_memory_usage, ColumnId::device_memory_usage,
                     ColumnId::self_device_memory_usage, ColumnId::count, ColumnId::min, ColumnId::max, ColumnId::flops,
                     ColumnId::device_type, ColumnId::is_async, ColumnId::is_user_annotation, ColumnId::node_id,
                     ColumnId::thread, ColumnId::domain, ColumnId::input_shapes, ColumnId::stack});
  // torch.autograd.profiler's spellings sort in descending order.
  for (const char* key : {"cpu_time", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage",
                          "self_cpu_memory_usage", "device_time", "device_time_total", "self_device_time_total",
                          "device_memory_usage", "self_device_memory_usage", "count", "flops"}) {
    const std::string meaning = std::string("-") + key;
    table.sort_spellings.emplace_back(key, meaning);
    const std::string spelling = key;
    const size_t device = spelling.find("device");
    if (device == std::string::npos) continue;
    for (const char* other : {"cuda", "xpu", "privateuse1"})
      table.sort_spellings.emplace_back(std::string(spelling).replace(device, 6, other), meaning);
  }
}

void add_row(Table& table, const AnalysisInput& input, const OpAverage& op, const OpAverages& all,
             const OpGrouping& grouping, const Estimates& estimates) {
  // A row has no share of a total that it is not part of. torch prints one all the same.
  const bool as_torch = input.options.definitions == Definitions::Reference;
  const auto share = [&](Table::Row& row, bool part, int64_t ns, int64_t of_ns) {
    if (part || as_torch) {
      row.add_percent(ns, of_ns);
    } else {
      row.empty();
    }
  };
  const auto average = [&](int64_t ns) {
    return add_saturated(ns, static_cast<int64_t>(op.count / 2)) / static_cast<int64_t>(op.count);
  };
  Table::Row row = table.row();
  row.add(std::string_view(op.name));
  share(row, !op.overhead, op.self_cpu_ns, all.self_cpu_ns);
  row.add(op.self_cpu_ns);
  share(row, !op.overhead && !op.is_async, op.is_async ? 0 : op.cpu_ns, all.self_cpu_ns);
  row.add(op.cpu_ns).add(average(op.cpu_ns)).add(op.self_device_ns);
  share(row, !op.annotation, op.self_device_ns, all.self_device_ns);
  row.add(op.device_ns).add(average(op.device_ns));
  if (op.annotation) {
    estimates.add_no_cells(row);
    estimates.add_no_cells(row);
  } else if (op.on_device) {
    const Extrapolated estimate = estimates.of(OpAverages::device_group(op.number));
    estimates.add_cells(row, estimate);
    estimates.add_cells(row, estimate);
  } else {
    estimates.add_cells(row, OpAverages::self_group(op.number));
    estimates.add_cells(row, OpAverages::total_group(op.number));
  }
  row.add(op.memory.host).add(op.self_memory.host).add(op.memory.device).add(op.self_memory.device);
  row.add(op.count).add(op.min_ns).add(op.max_ns);
  row.add(op.flops).add(std::string_view(op.on_device ? "CUDA" : "CPU"));
  row.add(int64_t{op.is_async}).add(int64_t{op.annotation});
  const auto text = [&](bool there, std::string_view value) { row.add_if(there, value); };
  if (grouping.node) {
    row.add(node_id(input.trace, op.process));
  } else {
    row.empty();
  }
  text(grouping.thread && op.thread != kNone,
       op.thread == kNone ? std::string() : fmt::format("{}", input.trace.threads[op.thread].tid));
  text(grouping.domain, op.domain);
  text(grouping.shape, op.shapes);
  std::string stack;
  for (const std::string& frame : op.stack) stack += (stack.empty() ? "" : ";") + frame;
  text(!stack.empty(), stack);
}

// The totals of torch.autograd.profiler's total_average().
std::string total_note(const OpAverages& all, bool with_memory) {
  uint64_t events = 0;
  int64_t cpu_ns = 0;
  MemoryUse memory;
  for (const OpAverage& row : all.rows) {
    if (row.annotation) continue;
    events += row.count;
    cpu_ns = add_saturated(cpu_ns, row.cpu_ns);
    memory += row.self_memory;
  }
  const int64_t mean_ns = events == 0 ? 0 : cpu_ns / static_cast<int64_t>(events);
  std::string note = fmt::format("total average: {} events, self CPU {}, CPU time avg {}, self CUDA {}", events,
                                 torch_time(all.self_cpu_ns), torch_time(mean_ns), torch_time(all.self_device_ns));
  if (with_memory)
    note += fmt::format(", memory {} CPU, {} CUDA", torch_memory(memory.host), torch_memory(memory.device));
  return note;
}

}  // namespace

Table report_ops(const AnalysisInput& input) {
  const OpGrouping grouping = op_grouping(input.options.group_by);
  Estimates estimates(input, RowsAre::ByLaunch);
  const OpAverages averages = op_averages(input, grouping, &estimates);
  Table table("ops", "Operators, calls and GPU operations by name");
  declare_operator_columns(table, estimates);
  table.text_limit = 100;
  for (const OpAverage& row : averages.rows) {
    if (!input.options.top_level || row.top_level) add_row(table, input, row, averages, grouping, estimates);
  }
  TorchLayout layout = layout_of(input, averages, grouping);
  layout.with_estimates = layout.with_device && estimates.any();
  table.text_form = [layout](const Table& cut) { return torch_table(cut, layout); };
  table.notes.push_back(total_note(averages, !input.trace.memory.empty()));
  estimates.add_notes(table);
  const auto note = [&](const char* what, uint64_t count) {
    if (count != 0) table.notes.push_back(fmt::format("{}: {}", what, count));
  };
  note("only children of their parent's name, merged into it", averages.merged);
  note("bookkeeping operators left out (aten::is_leaf, output_nr, _version, profiler::_record_function_*)",
       averages.filtered);
  note("Python functions, which have no row",
       static_cast<uint64_t>(std::count_if(input.trace.ranges.begin(), input.trace.ranges.end(),
                                           [](const Range& range) { return range.kind == RangeKind::Python; })));
  note("stack frames of autograd's entry and the profiler left out", averages.frames_left_out);
  note("events of the profiler's own work, in no operator and not in the total of self CPU time",
       averages.overhead_events);
  note("annotations on the GPU's side, not in the total of self CUDA time", averages.annotations);
  note_open_ranges(input.trace, table.notes);
  const bool over = std::any_of(averages.rows.begin(), averages.rows.end(), [&](const OpAverage& row) {
    return averages.self_cpu_ns > 0 && row.cpu_ns > averages.self_cpu_ns && !row.overhead && !row.is_async;
  });
  if (over) {
    table.notes.push_back("shares above 100 %: of a row inside itself, or of overlapping ranges");
  }
  if (!input.trace.memory.empty() && input.options.definitions != Definitions::Reference)
    table.notes.push_back("memory: each allocation and release counts for the innermost event on its own thread");
  return table;
}

}  // namespace prof::analyzer
