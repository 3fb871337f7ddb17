#include "analyzer/analysis/selected_operations.h"

#include <algorithm>

namespace prof::analyzer {

std::vector<uint32_t> selected_operations(const AnalysisInput& input, Order order) {
  std::vector<uint32_t> rows;
  const auto any_stream = [](StreamId) { return true; };
  for_each_selected(input, any_stream, [&](uint32_t row, const GpuOperation& operation) {
    if (input.selection.in_window(operation.start_ns, operation.end_ns)) rows.push_back(row);
  });
  if (order == Order::Start)
    std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
      return input.trace.operations[a].start_ns < input.trace.operations[b].start_ns;
    });
  return rows;
}

std::vector<uint32_t> selected_calls(const AnalysisInput& input, Order order) {
  const Trace& trace = input.trace;
  const bool of_streams = !input.selection.devices.empty() || !input.selection.streams.empty();
  std::vector<uint32_t> rows;
  for (const Thread& thread : trace.threads) {
    if (!input.selection.has_thread(thread)) continue;
    for (uint32_t row = thread.host.first; row < thread.host.last; ++row) {
      const HostEvent& event = trace.host[row];
      if (!input.selection.in_window(event.begin_ns, event.end_ns)) continue;
      if (of_streams) {
        const uint32_t stream = trace.host_streams[index(event.stream)].stream;
        if (stream == kNone || !input.selection.has_stream(trace, trace.streams[stream])) continue;
      }
      rows.push_back(row);
    }
  }
  if (order == Order::Start)
    std::stable_sort(rows.begin(), rows.end(),
                     [&](uint32_t a, uint32_t b) { return trace.host[a].begin_ns < trace.host[b].begin_ns; });
  return rows;
}

}  // namespace prof::analyzer
