// Which GPU operations and calls does a selection contain, by device, stream, thread of the launch or call, and ranges?
// The for_each functions ignore the time window; the functions that return rows apply it.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/gpu_order.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

inline bool selects_launch(const AnalysisInput& input, uint32_t row) {
  const GpuOperation& operation = input.trace.operations[row];
  const bool of_thread =
      input.selection.threads.empty() ||
      (operation.linked() && input.selection.has_thread(input.trace.thread(input.trace.host[operation.launch].thread)));
  return of_thread && input.selection.nvtx.has_operation(row);
}

// Calls take(row of Trace::operations, operation) stream by stream, by start within a stream. `stream_wanted` is called
// for each stream before its operations and may reject it.
template <class StreamWanted, class Take>
void for_each_selected(const AnalysisInput& input, StreamWanted&& stream_wanted, Take&& take) {
  const Trace& trace = input.trace;
  for (uint32_t s = 0; s < trace.streams.size(); ++s) {
    const Stream& stream = trace.streams[s];
    if (stream.operations.size() == 0 || !input.selection.has_stream(trace, stream) || !stream_wanted(StreamId{s}))
      continue;
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
      if (selects_launch(input, row)) take(row, trace.operations[row]);
    }
  }
}

// The same, ordered by start over all accepted streams.
template <class StreamWanted, class Take>
void for_each_selected_by_start(const AnalysisInput& input, StreamWanted&& stream_wanted, Take&& take) {
  const Trace& trace = input.trace;
  std::vector<StreamId> streams;
  for (uint32_t s = 0; s < trace.streams.size(); ++s) {
    const Stream& stream = trace.streams[s];
    if (stream.operations.size() == 0) continue;  // its device may not exist
    if (input.selection.has_stream(trace, stream) && stream_wanted(StreamId{s})) streams.push_back(StreamId{s});
  }
  in_order_of_start(trace, streams, [&](uint32_t row) {
    if (selects_launch(input, row)) take(row, trace.operations[row]);
  });
}

// By DeviceId: whether a selected stream of the device has operations that the selection by --nvtx contains.
std::vector<bool> selected_devices(const AnalysisInput& input);

// By row of Trace::host: whether the call concerns a stream that --device and --stream select, because it was given the
// stream, waited for it, or launched an operation on it. Empty: neither option limits calls.
std::vector<bool> calls_of_selected_streams(const AnalysisInput& input);

// Selected rows of Trace::operations and Trace::host: in the order of the model, or by start (equal starts in the order
// of the model).
enum class Order { Model, Start };
std::vector<uint32_t> selected_operations(const AnalysisInput& input, Order order);
std::vector<uint32_t> selected_calls(const AnalysisInput& input, Order order);

}  // namespace prof::analyzer
