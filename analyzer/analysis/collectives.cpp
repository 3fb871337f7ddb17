// collectives: one row per kernel launched inside a call of NCCL, with the communicator, rank and size that NCCL's NVTX payloads
// say. Definitions: docs/reports/collectives.md.
#include "analyzer/analysis/collective_calls.h"
#include "analyzer/analysis/gpu_columns.h"
#include "analyzer/analysis/selected_operations.h"

namespace prof::analyzer {

Table report_collectives(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table("collectives", "NCCL kernels and the calls that launched them");
  table.add_column("Start", "start", CellType::Nanoseconds);
  table.add_column("Duration", "duration", CellType::Nanoseconds);
  table.add_column("Call", "call", CellType::Text);
  table.add_column("Communicator", "communicator", CellType::Text);
  for (const auto& [title, key] : {std::pair{"Rank", "rank"}, {"Ranks", "ranks"}, {"Bytes", "bytes"}, {"Peer", "peer"}})
    table.add_column(title, key, CellType::Count);
  table.add_column("Reduction", "reduction", CellType::Text);
  table.add_column("Device", "device", CellType::Text);
  table.add_column("Stream", "stream", CellType::Count);
  table.add_column("PID", "pid", CellType::Count);
  table.add_column("Name", "name", CellType::Text);
  table.add_column("Note", "note", CellType::Text);
  const CollectiveCalls calls(trace);
  const auto add = [](Table::Row& row, const std::optional<int64_t>& value) { value ? row.add(*value) : row.empty(); };
  for (const uint32_t at : selected_operations(input, Order::Start)) {
    const GpuOperation& operation = trace.operations[at];
    const std::optional<CollectiveCall> call = calls.of(operation);
    if (!call) continue;
    const Stream& stream = trace.stream(operation.stream());
    const Device& device = trace.device(stream.device);
    Table::Row row = table.row();
    row.add(operation.start_ns).add(operation.duration_ns()).add(trace.range_name(trace.ranges[call->range]));
    row.add(call->communicator);
    add(row, call->rank), add(row, call->ranks), add(row, call->bytes), add(row, call->peer);
    row.add(call->reduction).add(std::string_view(device.name + " (" + std::to_string(device.ordinal) + ")"));
    row.add(stream.number).add(trace.processes[index(device.process)].pid);
    row.add(operation_name(input.views.names(), operation, input.options.names));
    row.add(std::string_view(call->grouped ? "group" : ""));
  }
  if (!calls.any()) table.notes.push_back("no NVTX range has a payload of NCCL's");
  return table;
}

}  // namespace prof::analyzer
