// collectives: one row per kernel launched inside a call of NCCL. Communicator, rank, size and bandwidth come from
// NCCL's NVTX payloads or from PyTorch's operators. Definitions: docs/reports/collectives.md.
#include "analyzer/analysis/collectives/collective_kernels.h"
#include "analyzer/analysis/collectives/host_clocks.h"
#include "analyzer/analysis/gpu_columns.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace prof::analyzer {

namespace {

void add_collective_columns(Table& table) {
  table.add_columns({ColumnId::start, ColumnId::duration, ColumnId::waited, ColumnId::call, ColumnId::communicator,
                     ColumnId::communicator_rank, ColumnId::ranks, ColumnId::bytes, ColumnId::peer,
                     ColumnId::algorithm_gb_per_s, ColumnId::bus_gb_per_s, ColumnId::data_type, ColumnId::reduction,
                     ColumnId::device_name, ColumnId::stream, ColumnId::pid, ColumnId::name, ColumnId::rank_from,
                     ColumnId::note});
}

}  // namespace

Table report_collectives(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table("collectives", "NCCL kernels and the calls that launched them");
  add_collective_columns(table);
  const CollectiveCalls calls(trace);
  const std::vector<CollectiveKernel> kernels = collective_kernels(trace, calls, input.selection);
  bool met = false;
  uint64_t within_bound = 0;
  for (const uint32_t at : selected_operations(input, Order::Start)) {
    const auto kernel = std::lower_bound(kernels.begin(), kernels.end(), at,
                                         [](const CollectiveKernel& a, uint32_t row) { return a.operation < row; });
    if (kernel == kernels.end() || kernel->operation != at) continue;
    const GpuOperation& operation = trace.operations[at];
    const CollectiveCall& call = kernel->call;
    const Stream& stream = trace.stream(operation.stream());
    const Device& device = trace.device(stream.device);
    Table::Row row = table.row();
    const auto count = [&](const std::optional<int64_t>& value) { row.add(value); };
    row.add(operation.start_ns).add(operation.duration_ns());
    if (kernel->latest_start_ns) {
      row.add(*kernel->latest_start_ns - operation.start_ns);
    } else {
      row.empty();
    }
    met = met || kernel->latest_start_ns;
    if (kernel->within_bound) ++within_bound;
    row.add(call.name).add(call.communicator);
    count(call.rank);
    count(call.ranks);
    count(call.bytes);
    count(call.peer);
    const CollectiveRate rate = collective_rate(trace, *kernel);
    if (rate.missing.empty()) {
      row.add(rate.algorithm).add(rate.bus);
    } else {
      row.empty().empty();
    }
    row.add(call.type).add(call.reduction);
    row.add(std::string_view(device.name + " (" + std::to_string(device.ordinal) + ")"));
    row.add(stream.number).add_owner(device.process);
    row.add(operation_name(input.views.names(), operation, input.options.names))
        .add(call.rank_source)
        .add(rate.missing);
  }
  if (!calls.any()) {
    table.notes.push_back("no NVTX range has a payload of NCCL's, and no operator the arguments of a collective");
  } else if (met) {
    table.notes.push_back("Waited: for the latest rank's kernel to begin; GB/s: of the time from then on");
  } else {
    table.notes.push_back("GB/s: of the kernel's whole time, in which it also waits for the latest rank");
  }
  if (within_bound != 0)
    table.notes.push_back(
        fmt::format("cannot tell the wait of {} kernels: it is shorter than the bounds of the clocks of their hosts; "
                    "their GB/s: of "
                    "the kernel's whole time",
                    within_bound));
  add_clock_notes(table, trace, kMostClockLines);
  return table;
}

}  // namespace prof::analyzer
