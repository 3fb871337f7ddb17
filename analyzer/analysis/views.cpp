#include "analyzer/analysis/views.h"

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
  std::vector<std::vector<Interval>> of_device(trace_.devices.size());
  for (const Stream& stream : trace_.streams) {
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
      const GpuOperation& operation = trace_.operations[row];
      of_device[index(stream.device)].push_back({operation.start_ns, operation.end_ns});
    }
  }
  busy_.emplace();
  for (std::vector<Interval>& intervals : of_device) busy_->emplace_back(std::move(intervals));
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

}  // namespace prof::analyzer
