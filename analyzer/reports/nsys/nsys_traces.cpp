// cuda_api_sum, cuda_api_trace and cuda_gpu_trace: the calls and the GPU operations, summed by name or one by one.
#include "analyzer/analysis/gpu_columns.h"
#include "analyzer/reports/nsys/nsys_tables.h"
#include "analyzer/reports/reports.h"

namespace prof::analyzer {

Table report_nsys_cuda_api_sum(const AnalysisInput& input) {
  Table table = nsys_table("cuda_api_sum", "CUDA API Summary");
  add_sum_columns(table, ColumnId::nsys_num_calls);
  table.add_column(ColumnId::nsys_name);
  NsysLines lines;
  for (const uint32_t row : selected_calls(input, Order::Model)) {
    const HostEvent& event = input.trace.host[row];
    lines.add(event.api(), event.duration_ns(),
              [&] { return std::vector<std::string>{std::string(nsys_api_name(input.trace.api_name(event)))}; });
  }
  add_lines(table, lines.lines);
  if (table.rows() == 0) table.notes.push_back("no CUDA calls in the input");
  return table;
}

Table report_nsys_cuda_api_trace(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table = nsys_table("cuda_api_trace", "CUDA API Trace");
  table.add_columns({ColumnId::nsys_start, ColumnId::nsys_duration, ColumnId::nsys_name, ColumnId::nsys_result,
                     ColumnId::nsys_api_correlation, ColumnId::nsys_api_pid, ColumnId::nsys_api_tid,
                     ColumnId::nsys_thread_priority, ColumnId::nsys_thread_name});
  const int64_t offset_ns = nsys_session_offset(trace);
  note_session_offset(table, offset_ns);
  table.list(selected_calls(input, Order::Start), [&trace, offset_ns](uint32_t at, Table::Row& row) {
    const HostEvent& event = trace.host[at];
    const Thread& thread = trace.thread(event.thread);
    row.add(event.begin_ns + offset_ns).add(event.duration_ns()).add(nsys_api_name(trace.api_name(event)));
    row.add(event.result()).add(event.correlation).add(trace.processes[index(thread.process)].pid).add(thread.tid);
    row.add_if(thread.priority.has_value(), int64_t{thread.priority.value_or(0)}).add(std::string_view(thread.name));
  });
  if (table.rows() == 0) table.notes.push_back("no CUDA calls in the input");
  return table;
}

namespace {

void add_nsys_kernel_cells(Table::Row& row, const Kernel& kernel) {
  add_shape_cells(row, kernel);
  row.add(megabytes(kernel.static_shared_bytes)).add(megabytes(kernel.dynamic_shared_bytes));
  row.empty().empty().empty().empty();
}

void add_nsys_memory_cells(Table::Row& row, const GpuOperation& operation) {
  for (int i = 0; i < 9; ++i) row.empty();
  row.add(megabytes(operation.bytes));
  // bytes / ns is GB/s
  constexpr double kMegaPerGiga = 1e3;
  if (operation.duration_ns() > 0) {
    row.add(kMegaPerGiga * static_cast<double>(operation.bytes) / static_cast<double>(operation.duration_ns()));
  } else {
    row.empty();
  }
  if (operation.kind() == GpuKind::Copy) {
    row.add(memory_kind_name(operation.source_memory())).add(memory_kind_name(operation.destination_memory()));
  } else {
    row.add(memory_kind_name(operation.memory_kind())).empty();
  }
}

}  // namespace

Table report_nsys_cuda_gpu_trace(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table = nsys_table("cuda_gpu_trace", "CUDA GPU Trace");
  table.add_columns({ColumnId::nsys_start, ColumnId::nsys_duration});
  add_shape_columns(table);
  table.add_columns({ColumnId::nsys_static_shared_mb, ColumnId::nsys_dynamic_shared_mb, ColumnId::nsys_bytes_mb,
                     ColumnId::nsys_throughput_mb_per_s});
  add_place_columns(table);
  table.add_column(ColumnId::nsys_name);
  const int64_t offset_ns = nsys_session_offset(trace);
  note_session_offset(table, offset_ns);
  const auto add = [input, &trace, offset_ns, devices = device_names(trace)](uint32_t at, Table::Row& row) {
    const GpuOperation& operation = trace.operations[at];
    const Stream& stream = trace.stream(operation.stream());
    const bool is_kernel = operation.has_kernel();
    row.add(operation.start_ns + offset_ns).add(operation.duration_ns()).add(operation.correlation);
    if (is_kernel) {
      add_nsys_kernel_cells(row, trace.kernels[operation.detail]);
    } else {
      add_nsys_memory_cells(row, operation);
    }
    add_place_cells(row, devices, stream);
    if (is_kernel) {
      row.add(nsys_kernel_name(input, operation));
    } else {
      row.add(std::string_view(nsys_memory_operation(operation)));
    }
  };
  table.list(selected_operations(input, Order::Start), add);
  if (table.rows() == 0) table.notes.push_back("no GPU work in the input");
  return table;
}

}  // namespace prof::analyzer
