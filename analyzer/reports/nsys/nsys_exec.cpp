// cuda_kern_exec_sum and cuda_kern_exec_trace: the phases of each kernel. A: the launch call. Q: the time from the end
// of A to the start of the kernel, empty if the kernel started earlier. K: the kernel. T: from the start of A to the
// later end of A and K.
#include "analyzer/analysis/merge_runs.h"
#include "analyzer/reports/nsys/nsys_tables.h"
#include "analyzer/reports/reports.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace prof::analyzer {

namespace {

struct Execution {
  const GpuOperation& kernel;
  const HostEvent& launch;
  int64_t api_ns() const { return launch.duration_ns(); }
  bool queued() const { return kernel.start_ns >= launch.end_ns; }
  int64_t queue_ns() const { return kernel.start_ns - launch.end_ns; }
  int64_t total_ns() const { return std::max(launch.end_ns, kernel.end_ns) - launch.begin_ns; }
};

template <class Take> void for_each_execution(const AnalysisInput& input, Table& table, Take take) {
  const Trace& trace = input.trace;
  uint64_t unlinked = 0, taken = 0;
  for (const uint32_t row : selected_operations(input, Order::Model)) {
    const GpuOperation& operation = trace.operations[row];
    if (!operation.has_kernel()) continue;
    if (operation.linked()) {
      take(Execution{operation, trace.host[operation.launch]});
      ++taken;
    } else {
      ++unlinked;
    }
  }
  if (unlinked != 0)
    table.notes.push_back(std::to_string(unlinked) + " kernels whose launch is not in the input are left out");
  if (taken + unlinked == 0) table.notes.push_back("no kernels in the input");
}

}  // namespace

Table report_nsys_cuda_kern_exec_sum(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table = nsys_table("cuda_kern_exec_sum", "CUDA Kernel Launch & Exec Time Summary");
  table.add_columns({ColumnId::nsys_pid, ColumnId::nsys_tid, ColumnId::nsys_dev_id, ColumnId::nsys_count,
                     ColumnId::nsys_queue_count});
  table.add_columns({ColumnId::nsys_total_avg, ColumnId::nsys_total_med, ColumnId::nsys_total_min,
                     ColumnId::nsys_total_max, ColumnId::nsys_total_stddev});
  table.add_columns({ColumnId::nsys_api_avg, ColumnId::nsys_api_med, ColumnId::nsys_api_min, ColumnId::nsys_api_max,
                     ColumnId::nsys_api_stddev});
  table.add_columns({ColumnId::nsys_queue_avg, ColumnId::nsys_queue_med, ColumnId::nsys_queue_min,
                     ColumnId::nsys_queue_max, ColumnId::nsys_queue_stddev});
  table.add_columns({ColumnId::nsys_kernel_avg, ColumnId::nsys_kernel_med, ColumnId::nsys_kernel_min,
                     ColumnId::nsys_kernel_max, ColumnId::nsys_kernel_stddev});
  Estimates estimates(input, RowsAre::ByWork);
  estimates.add_columns(table);
  table.add_columns({ColumnId::nsys_api_name, ColumnId::nsys_kernel_name});

  struct Line {
    uint32_t number = 0;
    Values total, api, queue, kernel;
  };
  using Key = std::tuple<uint32_t, uint32_t, std::string_view, std::string_view>;  // thread, ordinal, API, kernel
  std::map<Key, Line> lines;
  std::map<std::array<uint32_t, 4>, Line*> of_ids;  // texts are created only for new combinations
  for_each_execution(input, table, [&](const Execution& execution) {
    const uint32_t thread = index(execution.launch.thread);
    const uint32_t ordinal = trace.device(trace.stream(execution.kernel.stream()).device).ordinal;
    Line*& found =
        of_ids[{thread, ordinal, execution.launch.api(), index(input.views.names().named_by(execution.kernel))}];
    if (found == nullptr)
      found = &lines[{thread, ordinal, nsys_api_name(trace.api_name(execution.launch)),
                      nsys_kernel_name(input, execution.kernel)}];
    Line& line = *found;
    if (line.kernel.empty()) line.number = static_cast<uint32_t>(lines.size());
    estimates.add(execution.kernel, line.number);
    line.total.add(execution.total_ns());
    line.api.add(execution.api_ns());
    if (execution.queued()) line.queue.add(execution.queue_ns());
    line.kernel.add(execution.kernel.duration_ns());
  });
  std::vector<std::pair<const Key*, Line*>> order;
  for (auto& [key, line] : lines) order.emplace_back(&key, &line);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second->total.total() != b.second->total.total() ? a.second->total.total() > b.second->total.total()
                                                              : a.second->total.count() > b.second->total.count();
  });
  for (const auto& [key, line] : order) {
    const Thread& thread = trace.threads[std::get<0>(*key)];
    Table::Row row = table.row();
    row.add(trace.processes[index(thread.process)].pid).add(thread.tid).add(std::get<1>(*key));
    row.add(line->total.count()).add(line->queue.count());
    for (Values* each : {&line->total, &line->api, &line->queue, &line->kernel}) add_statistics(row, *each);
    estimates.add_cells(row, line->number);
    row.add(std::get<2>(*key)).add(std::get<3>(*key));
  }
  estimates.add_notes(table);
  return table;
}

Table report_nsys_cuda_kern_exec_trace(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table = nsys_table("cuda_kern_exec_trace", "CUDA Kernel Launch & Exec Time Trace");
  table.add_columns({ColumnId::nsys_api_start, ColumnId::nsys_api_duration, ColumnId::nsys_queue_start,
                     ColumnId::nsys_queue_duration, ColumnId::nsys_kernel_start, ColumnId::nsys_kernel_duration,
                     ColumnId::nsys_total_duration, ColumnId::nsys_pid, ColumnId::nsys_tid, ColumnId::nsys_dev_id,
                     ColumnId::nsys_api_function, ColumnId::nsys_grid, ColumnId::nsys_block,
                     ColumnId::nsys_kernel_name});
  std::vector<uint32_t> kernels;  // rows of Trace::operations
  for_each_execution(input, table, [&](const Execution& execution) {
    kernels.push_back(static_cast<uint32_t>(&execution.kernel - trace.operations.data()));
  });
  kernels = merge_runs(std::move(kernels),
                       [&trace](uint32_t row) { return trace.host[trace.operations[row].launch].begin_ns; });
  std::vector<std::array<std::string, 2>> shapes;  // by KernelId
  for (const Kernel& kernel : trace.kernels) shapes.push_back({nsys_shape(kernel.grid), nsys_shape(kernel.block)});
  const int64_t offset_ns = nsys_session_offset(trace);
  note_session_offset(table, offset_ns);
  auto add = [input, &trace, offset_ns, shapes = std::move(shapes)](uint32_t at, Table::Row& row) {
    const GpuOperation& operation = trace.operations[at];
    const Execution execution{operation, trace.host[operation.launch]};
    const Thread& thread = trace.thread(execution.launch.thread);
    const auto& [grid, block] = shapes[execution.kernel.detail];
    row.add(execution.launch.begin_ns + offset_ns).add(execution.api_ns());
    if (execution.queued()) {
      row.add(execution.launch.end_ns + offset_ns).add(execution.queue_ns());
    } else {
      row.empty().empty();
    }
    row.add(execution.kernel.start_ns + offset_ns).add(execution.kernel.duration_ns()).add(execution.total_ns());
    row.add(trace.processes[index(thread.process)].pid).add(thread.tid);
    row.add(trace.device(trace.stream(execution.kernel.stream()).device).ordinal);
    row.add(nsys_api_name(trace.api_name(execution.launch)));
    row.add(std::string_view(grid)).add(std::string_view(block));
    row.add(nsys_kernel_name(input, execution.kernel));
  };
  table.list(std::move(kernels), std::move(add));
  return table;
}

}  // namespace prof::analyzer
