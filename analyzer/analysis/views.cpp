#include "analyzer/analysis/views.h"

#include "analyzer/analysis/gpu_order.h"

namespace prof::analyzer {

namespace {

std::vector<IntervalSet> busy_of_devices(const Trace& trace) {
  std::vector<std::vector<StreamId>> of_device(trace.devices.size());
  for (uint32_t s = 0; s < trace.streams.size(); ++s) {
    // A stream with an unreadable definition has no device, and it has no operations.
    const Stream& stream = trace.streams[s];
    if (stream.operations.size() != 0) of_device[index(stream.device)].push_back(StreamId{s});
  }
  std::vector<IntervalSet> all;
  for (const std::vector<StreamId>& streams : of_device) {
    IntervalCollector busy;
    in_order_of_start(trace, streams,
                      [&](uint32_t row) { busy.add(trace.operations[row].start_ns, trace.operations[row].end_ns); });
    all.push_back(busy.take());
  }
  return all;
}

// For each call the cursor's value at the start of the call.
template <class Cursor> auto at_calls(const Trace& trace) {
  Column<decltype(Cursor(trace, ThreadId{}).at(0))> found;
  found.resize(trace.host.size());
  for (uint32_t t = 0; t < trace.threads.size(); ++t) {
    Cursor cursor(trace, ThreadId{t});
    const Rows rows = trace.threads[t].host;
    for (uint32_t row = rows.first; row < rows.last; ++row) found[row] = cursor.at(trace.host[row].begin_ns);
  }
  return found;
}

}  // namespace

const KernelNames& Views::names() const {
  return names_.get([&] { return KernelNames(trace_); });
}
const KernelCategories& Views::categories() const {
  return categories_.get([&] { return KernelCategories(trace_, names(), rules_); });
}
const WaitingOperations& Views::depth() const {
  return depth_.get([&] { return WaitingOperations(trace_); });
}
const std::vector<IntervalSet>& Views::busy() const {
  return busy_.get([&] { return busy_of_devices(trace_); });
}
const Column<uint32_t>& Views::range_of_call() const {
  return range_of_call_.get([&] { return at_calls<RangeCursor>(trace_); });
}
const Column<PathId>& Views::path_of_call() const {
  return path_of_call_.get([&] { return at_calls<PathCursor>(trace_); });
}
const Bursts& Views::bursts() const {
  return bursts_.get([&] { return Bursts(trace_); });
}
const Dependencies& Views::dependencies() const {
  return dependencies_.get([&] {
    Dependencies dependencies(trace_);
    for (uint32_t kernel = 0; kernel < trace_.kernels.size(); ++kernel)
      dependencies.communication.push_back(categories().purpose(KernelId{kernel}) == Purpose::Communication);
    return dependencies;
  });
}
const EventNames& Views::event_names() const {
  return event_names_.get([&] { return EventNames(trace_); });
}

const RangeCounters& Views::range_counters() const {
  return range_counters_.get([&] { return RangeCounters(trace_); });
}

const EventNames& Views::range_names() const {
  if (range_counters().folded().empty()) return event_names();
  return range_names_.get([&] { return EventNames(trace_, range_counters()); });
}
const EventTree& Views::tree() const {
  return tree_.get([&] { return EventTree(trace_, event_names()); });
}
const ForwardBackward& Views::forward_backward() const {
  return forward_backward_.get([&] { return ForwardBackward(trace_); });
}
const Symbols& Views::symbols() const {
  return symbols_.get([&] { return Symbols(trace_, stack_options_.symbols); });
}
const GraphOrigins& Views::graph_origins() const {
  return graph_origins_.get([&] { return GraphOrigins(trace_); });
}

}  // namespace prof::analyzer
