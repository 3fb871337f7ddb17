#include "analyzer/analysis/views.h"

#include "analyzer/analysis/gpu_order.h"

namespace prof::analyzer {

const KernelNames& Views::names() const {
  if (!names_) names_.emplace(trace_);
  return *names_;
}

const KernelCategories& Views::categories() const {
  if (!categories_) categories_.emplace(trace_, names(), rules_);
  return *categories_;
}

const QueueDepth& Views::depth() const {
  if (!depth_) depth_.emplace(trace_);
  return *depth_;
}

const std::vector<IntervalSet>& Views::busy() const {
  if (busy_) return *busy_;
  std::vector<std::vector<StreamId>> of_device(trace_.devices.size());
  for (uint32_t s = 0; s < trace_.streams.size(); ++s) {
    // A stream whose definition was not readable has no device, and nothing ran on it.
    const Stream& stream = trace_.streams[s];
    if (stream.operations.size() != 0) of_device[index(stream.device)].push_back(StreamId{s});
  }
  busy_.emplace();
  for (const std::vector<StreamId>& streams : of_device) {
    IntervalCollector busy;
    in_order_of_start(trace_, streams,
                      [&](uint32_t row) { busy.add(trace_.operations[row].start_ns, trace_.operations[row].end_ns); });
    busy_->push_back(busy.take());
  }
  return *busy_;
}

const Column<uint32_t>& Views::range_of_call() const {
  if (range_of_call_) return *range_of_call_;
  range_of_call_.emplace();
  range_of_call_->resize(trace_.host.size());
  for (uint32_t t = 0; t < trace_.threads.size(); ++t) {
    RangeCursor cursor(trace_, ThreadId{t});
    const Rows rows = trace_.threads[t].host;
    for (uint32_t row = rows.first; row < rows.last; ++row)
      (*range_of_call_)[row] = cursor.at(trace_.host[row].begin_ns);
  }
  return *range_of_call_;
}

const Dependencies& Views::dependencies() const {
  if (!dependencies_) dependencies_.emplace(trace_);
  return *dependencies_;
}

const EventNames& Views::event_names() const {
  if (!event_names_) event_names_.emplace(trace_);
  return *event_names_;
}

const EventTree& Views::tree() const {
  if (!tree_) tree_.emplace(trace_, event_names());
  return *tree_;
}

const ForwardBackward& Views::forward_backward() const {
  if (!forward_backward_) forward_backward_.emplace(trace_);
  return *forward_backward_;
}

const GraphOrigins& Views::graph_origins() const {
  if (!graph_origins_) graph_origins_.emplace(trace_);
  return *graph_origins_;
}

}  // namespace prof::analyzer
