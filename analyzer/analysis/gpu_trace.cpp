// gpu-trace: one row per kernel, copy and memset in order of start; nsys's cuda_gpu_trace plus queue depth and NVTX path.
#include "analyzer/analysis/gpu_columns.h"
#include "analyzer/analysis/selected_operations.h"

#include <unordered_map>

namespace prof::analyzer {

Table report_gpu_trace(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table("gpu-trace", "GPU operations in order of start");
  table.add_column("Start", "start", CellType::Nanoseconds);
  table.add_column("Duration", "duration", CellType::Nanoseconds);
  add_shape_columns(table);
  for (const auto& [title, key] : {std::pair{"StcSMem (B)", "static_shared_bytes"},
                                   {"DymSMem (B)", "dynamic_shared_bytes"},
                                   {"Bytes (B)", "bytes"}}) {
    table.add_column(title, key, CellType::Count);
  }
  table.add_column("Throughput (GB/s)", "throughput_gb_per_s", CellType::Real, 3);
  add_place_columns(table);
  for (const auto& [title, key] : {std::pair{"PID", "pid"},
                                   {"Waiting", "queue_waiting"},
                                   {"Outstanding", "queue_outstanding"},
                                   {"Live", "queue_live"}}) {
    table.add_column(title, key, CellType::Count);
  }
  table.add_column("Name", "name", CellType::Text);
  table.add_column("NVTX path", "nvtx_path", CellType::Text);

  std::unordered_map<uint32_t, PathCursor> cursors;
  for (const uint32_t at : selected_operations(input, Order::Start)) {
    const GpuOperation& operation = trace.operations[at];
    const Stream& stream = trace.stream(operation.stream());
    const bool is_kernel = operation.has_kernel();
    Table::Row row = table.row();
    row.add(operation.start_ns).add(operation.duration_ns()).add(operation.correlation);
    if (is_kernel) {
      const Kernel& kernel = trace.kernels[operation.detail];
      if (kernel.grid[0] != 0) {
        add_shape_cells(row, kernel);
        row.add(kernel.static_shared_bytes).add(kernel.dynamic_shared_bytes);
      } else {  // not in the trace
        for (int i = 0; i < 9; ++i) row.empty();
      }
      row.empty().empty().empty().empty();
    } else {
      for (int i = 0; i < 9; ++i) row.empty();
      row.add(static_cast<uint64_t>(operation.bytes));
      const double ns = static_cast<double>(operation.duration_ns());
      if (ns > 0) {
        row.add(static_cast<double>(operation.bytes) / ns);
      } else {
        row.empty();
      }
      if (operation.kind() == GpuKind::Copy) {
        row.add(memory_kind_name(operation.detail >> 8 & 0xff)).add(memory_kind_name(operation.detail >> 16 & 0xff));
      } else {
        row.empty().add(memory_kind_name(operation.detail));
      }
    }
    add_place_cells(row, trace, stream);
    row.add(trace.processes[index(trace.device(stream.device).process)].pid);
    const HostEvent* const launch = operation.linked() ? &trace.host[operation.launch] : nullptr;
    const LaunchDepth depth = launch != nullptr ? input.views.depth().at_launch()[operation.launch] : LaunchDepth{};
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
    row.add(operation_name(input.views.names(), operation, input.options.names));
    if (launch == nullptr) continue;
    auto cursor = cursors.find(index(launch->thread));
    if (cursor == cursors.end())
      cursor = cursors.emplace(index(launch->thread), PathCursor(trace, launch->thread)).first;
    const PathId path = cursor->second.at(launch->begin_ns);
    if (index(path) != 0) row.add(std::string_view(path_text(trace, path)));
  }
  return table;
}

}  // namespace prof::analyzer
