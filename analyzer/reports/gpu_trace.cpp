// gpu-trace: one row per kernel, copy and memset in order of start. The table is nsys's cuda_gpu_trace plus queue depth
// and NVTX path.
#include "analyzer/analysis/gpu_columns.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/reports/reports.h"

namespace prof::analyzer {

namespace {

void add_kernel_cells(Table::Row& row, const Kernel& kernel) {
  if (kernel.grid[0] != 0) {
    add_shape_cells(row, kernel);
    row.add(kernel.static_shared_bytes).add(kernel.dynamic_shared_bytes);
  } else {  // not in the trace
    for (int i = 0; i < 9; ++i) row.empty();
  }
  row.empty().empty().empty().empty();
}

void add_memory_cells(Table::Row& row, const GpuOperation& operation) {
  for (int i = 0; i < 9; ++i) row.empty();
  row.add(static_cast<uint64_t>(operation.bytes));
  const double ns = static_cast<double>(operation.duration_ns());
  if (ns > 0) {
    row.add(static_cast<double>(operation.bytes) / ns);
  } else {
    row.empty();
  }
  if (operation.kind() == GpuKind::Copy) {
    row.add(memory_kind_name(operation.source_memory())).add(memory_kind_name(operation.destination_memory()));
  } else {
    row.empty().add(memory_kind_name(operation.memory_kind()));
  }
}

}  // namespace

Table report_gpu_trace(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table("gpu-trace", "GPU operations in order of start");
  table.add_columns({ColumnId::start, ColumnId::duration});
  add_shape_columns(table);
  table.add_columns(
      {ColumnId::static_shared_bytes, ColumnId::dynamic_shared_bytes, ColumnId::bytes, ColumnId::throughput_gb_per_s});
  add_place_columns(table);
  table.add_columns({ColumnId::pid, ColumnId::queue_waiting, ColumnId::queue_outstanding, ColumnId::queue_live,
                     ColumnId::name, ColumnId::nvtx_path});

  const auto add = [input, &trace, &depths = input.views.depth().at_launch(), &paths = input.views.path_of_call(),
                    &names = input.views.names(), devices = device_names(trace)](uint32_t at, Table::Row& row) {
    const GpuOperation& operation = trace.operations[at];
    const Stream& stream = trace.stream(operation.stream());
    row.add(operation.start_ns).add(operation.duration_ns()).add(operation.correlation);
    if (operation.has_kernel()) {
      add_kernel_cells(row, trace.kernels[operation.detail]);
    } else {
      add_memory_cells(row, operation);
    }
    add_place_cells(row, devices, stream);
    row.add_owner(trace.device(stream.device).process);
    const HostEvent* const launch = operation.linked() ? &trace.host[operation.launch] : nullptr;
    const LaunchDepth depth = launch != nullptr ? depths[operation.launch] : LaunchDepth{};
    if (depth.known()) {
      row.add(depth.waiting).add(depth.outstanding);
    } else {
      row.empty().empty();
    }
    if (launch != nullptr && trace.process_of(*launch).has_live_depth()) {
      row.add(launch->live_depth);
    } else {
      row.empty();
    }
    row.add(operation_name(names, operation, input.options.names));
    if (launch == nullptr) return;
    const PathId path = paths[operation.launch];
    if (index(path) != 0) row.add(std::string_view(path_text(trace, path)));
  };
  table.list(selected_operations(input, Order::Start), add);
  return table;
}

}  // namespace prof::analyzer
