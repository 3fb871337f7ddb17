// cuda_gpu_kern_sum, cuda_gpu_kern_gb_sum, cuda_gpu_mem_time_sum, cuda_gpu_mem_size_sum, cuda_gpu_sum and
// cuda_api_gpu_sum: which kernels, copies, memsets and calls took the time? Durations are added as nsys adds them:
// overlapping operations all count.
#include "analyzer/reports/nsys/nsys_tables.h"
#include "analyzer/reports/reports.h"

namespace prof::analyzer {

namespace {

using Texts = std::vector<std::string>;

std::string kernel_name(const AnalysisInput& input, const GpuOperation& operation) {
  return std::string(nsys_kernel_name(input, operation));
}

void note_if_empty(Table& table, const char* what) {
  if (table.rows() == 0) table.notes.push_back(what);
}

constexpr const char* kNoKernels = "no kernels in the input";
constexpr const char* kNoMemory = "no copies or memsets in the input";

void add_gpu_lines(const AnalysisInput& input, NsysLines& lines, Estimates& estimates) {
  for (const uint32_t row : selected_operations(input, Order::Model)) {
    const GpuOperation& operation = input.trace.operations[row];
    const uint32_t line = lines.add(operation_name_key(input.views.names(), operation), operation.duration_ns(), [&] {
      return operation.has_kernel() ? Texts{"CUDA_KERNEL", kernel_name(input, operation)}
                                    : Texts{"MEMORY_OPER", nsys_memory_operation(operation)};
    });
    estimates.add(operation, line);
  }
}

Table category_table(std::string name, std::string title, std::vector<NsysLine>& lines, const Estimates& estimates) {
  Table table = nsys_table(std::move(name), std::move(title));
  add_sum_columns(table, ColumnId::nsys_instances, &estimates);
  table.add_columns({ColumnId::nsys_category, ColumnId::nsys_operation});
  add_lines(table, lines, &estimates);
  note_if_empty(table, "no CUDA work in the input");
  return table;
}

}  // namespace

Table report_nsys_cuda_gpu_kern_sum(const AnalysisInput& input) {
  Table table = nsys_table("cuda_gpu_kern_sum", "CUDA GPU Kernel Summary");
  Estimates estimates(input, RowsAre::ByWork);
  add_sum_columns(table, ColumnId::nsys_instances, &estimates);
  table.add_column(ColumnId::nsys_name);
  NsysLines lines;
  for (const uint32_t row : selected_operations(input, Order::Model)) {
    const GpuOperation& operation = input.trace.operations[row];
    if (!operation.has_kernel()) continue;
    estimates.add(operation, lines.add(operation_name_key(input.views.names(), operation), operation.duration_ns(),
                                       [&] { return Texts{kernel_name(input, operation)}; }));
  }
  add_lines(table, lines.lines, &estimates);
  note_if_empty(table, kNoKernels);
  return table;
}

Table report_nsys_cuda_gpu_kern_gb_sum(const AnalysisInput& input) {
  Estimates estimates(input, RowsAre::ByWork);
  Table table = nsys_table("cuda_gpu_kern_gb_sum", "CUDA GPU Kernel/Grid/Block Summary");
  add_sum_columns(table, ColumnId::nsys_instances, &estimates);
  table.add_columns({ColumnId::nsys_grid, ColumnId::nsys_block, ColumnId::nsys_name});
  NsysLines lines;
  for (const uint32_t row : selected_operations(input, Order::Model)) {
    const GpuOperation& operation = input.trace.operations[row];
    if (!operation.has_kernel()) continue;
    const uint64_t named_by = index(input.views.names().named_by(operation));
    const uint32_t line = lines.add(named_by << 32 | operation.detail, operation.duration_ns(), [&] {
      const Kernel& kernel = input.trace.kernels[operation.detail];
      return Texts{nsys_shape(kernel.grid), nsys_shape(kernel.block), kernel_name(input, operation)};
    });
    estimates.add(operation, line);
  }
  add_lines(table, lines.lines, &estimates);
  note_if_empty(table, kNoKernels);
  return table;
}

Table report_nsys_cuda_gpu_mem_time_sum(const AnalysisInput& input) {
  Estimates estimates(input, RowsAre::ByWork);
  Table table = nsys_table("cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)");
  add_sum_columns(table, ColumnId::nsys_count, &estimates);
  table.add_column(ColumnId::nsys_operation);
  NsysLines lines;
  for (const uint32_t row : selected_operations(input, Order::Model)) {
    const GpuOperation& operation = input.trace.operations[row];
    if (operation.has_kernel()) continue;
    estimates.add(operation, lines.add(operation_name_key(input.views.names(), operation), operation.duration_ns(),
                                       [&] { return Texts{nsys_memory_operation(operation)}; }));
  }
  add_lines(table, lines.lines, &estimates);
  note_if_empty(table, kNoMemory);
  return table;
}

Table report_nsys_cuda_gpu_mem_size_sum(const AnalysisInput& input) {
  Table table = nsys_table("cuda_gpu_mem_size_sum", "CUDA GPU MemOps Summary (by Size)");
  table.add_columns({ColumnId::nsys_total_mb, ColumnId::nsys_count, ColumnId::nsys_avg_mb, ColumnId::nsys_med_mb,
                     ColumnId::nsys_min_mb, ColumnId::nsys_max_mb, ColumnId::nsys_stddev_mb});
  Estimates estimates(input, RowsAre::ByWork);
  estimates.add_megabyte_columns(table);
  table.add_column(ColumnId::nsys_operation);
  NsysLines lines;
  for (const uint32_t row : selected_operations(input, Order::Model)) {
    const GpuOperation& operation = input.trace.operations[row];
    if (operation.has_kernel()) continue;
    const uint32_t line =
        lines.add(operation_name_key(input.views.names(), operation), static_cast<int64_t>(operation.bytes),
                  [&] { return Texts{nsys_memory_operation(operation)}; });
    estimates.add(operation, line, static_cast<double>(operation.bytes));
  }
  sort_lines(lines.lines);
  constexpr double kMega = 1e6;
  for (NsysLine& line : lines.lines) {
    const Statistics bytes = line.values.statistics();
    Table::Row row = table.row();
    row.add(static_cast<double>(bytes.total) / kMega).add(bytes.count).add(bytes.mean / kMega);
    row.add(bytes.median / kMega).add(static_cast<double>(bytes.min) / kMega);
    row.add(static_cast<double>(bytes.max) / kMega).add(bytes.stddev / kMega);
    estimates.add_cells(row, line.number, 1 / kMega);
    row.add(std::string_view(line.texts[0]));
  }
  estimates.add_notes(table);
  note_if_empty(table, kNoMemory);
  return table;
}

Table report_nsys_cuda_gpu_sum(const AnalysisInput& input) {
  NsysLines lines;
  Estimates estimates(input, RowsAre::ByWork);
  add_gpu_lines(input, lines, estimates);
  return category_table("cuda_gpu_sum", "CUDA GPU Summary (Kernels/MemOps)", lines.lines, estimates);
}

Table report_nsys_cuda_api_gpu_sum(const AnalysisInput& input) {
  NsysLines lines;
  Estimates estimates(input, RowsAre::ByWork);
  add_gpu_lines(input, lines, estimates);
  constexpr uint64_t kCall = uint64_t{1} << 40;
  for (const uint32_t row : selected_calls(input, Order::Model)) {
    const HostEvent& event = input.trace.host[row];
    lines.add(kCall | event.api(), event.duration_ns(), [&] {
      return Texts{"CUDA_API", std::string(nsys_api_name(input.trace.api_name(event)))};
    });
  }
  return category_table("cuda_api_gpu_sum", "CUDA Summary (API/Kernels/MemOps)", lines.lines, estimates);
}

}  // namespace prof::analyzer
