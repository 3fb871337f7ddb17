#include "analyzer/analysis/select/selected_operations.h"

namespace prof::analyzer {

std::vector<bool> selected_devices(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  const NvtxSelection& nvtx = input.selection.nvtx;
  std::vector<bool> selected(trace.devices.size());
  for (const Stream& stream : trace.streams) {
    if (stream.operations.size() == 0 || !input.selection.has_stream(trace, stream)) continue;
    uint32_t row = stream.operations.first;
    while (row < stream.operations.last && !nvtx.has_operation(row)) ++row;
    if (row != stream.operations.last) selected[index(stream.device)] = true;
  }
  return selected;
}

std::vector<uint32_t> selected_operations(const AnalysisInput& input, Order order) {
  std::vector<uint32_t> rows;
  const auto any_stream = [](StreamId) { return true; };
  const auto take = [&](uint32_t row, const GpuOperation& operation) {
    if (input.selection.in_window(operation.start_ns, operation.end_ns)) rows.push_back(row);
  };
  if (order == Order::Model) {
    for_each_selected(input, any_stream, take);
  } else {
    for_each_selected_by_start(input, any_stream, take);
  }
  return rows;
}

std::vector<bool> calls_of_selected_streams(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  if (input.selection.devices.empty() && input.selection.streams.empty()) return {};
  std::vector<bool> streams(trace.streams.size()), calls(trace.host.size());
  for (size_t s = 0; s < streams.size(); ++s) streams[s] = input.selection.has_stream(trace, trace.streams[s]);
  const auto add = [&](uint32_t call, uint32_t stream) {
    if (call != kNone && stream < streams.size() && streams[stream]) calls[call] = true;
  };
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    const uint32_t handle = index(trace.host[row].stream);
    if (handle < trace.host_streams.size()) add(row, trace.host_streams[handle].stream);
  }
  for (const SyncEvent& sync : trace.syncs) add(sync.call, sync.stream);
  for (const GpuOperation& operation : trace.operations) add(operation.launch, operation.stream_index);
  return calls;
}

std::vector<uint32_t> selected_calls(const AnalysisInput& input, Order order) {
  const Trace& trace = input.trace;
  const std::vector<bool> of_streams = calls_of_selected_streams(input);
  std::vector<uint32_t> rows;
  const auto take = [&](uint32_t row) {
    const HostEvent& event = trace.host[row];
    if (!input.selection.nvtx.has_call(row) || !input.selection.in_window(event.begin_ns, event.end_ns)) return;
    if (!of_streams.empty() && !of_streams[row]) return;
    rows.push_back(row);
  };
  std::vector<Rows> of_threads;
  for (const Thread& thread : trace.threads) {
    if (!input.selection.has_thread(thread)) continue;
    of_threads.push_back(thread.host);
    for (uint32_t row = thread.host.first; order == Order::Model && row < thread.host.last; ++row) take(row);
  }
  if (order == Order::Start)
    merge_rows(
        of_threads, [&](uint32_t row) { return trace.host[row].begin_ns; }, take);
  return rows;
}

}  // namespace prof::analyzer
