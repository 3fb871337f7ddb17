#include "analyzer/analysis/idle/device_idle.h"

#include "analyzer/analysis/gpu_order.h"
#include "analyzer/analysis/idle/host_cursor.h"

#include <algorithm>

namespace prof::analyzer {

DeviceIdle::DeviceIdle(const AnalysisInput& input, DeviceId device, const std::vector<StreamId>& streams,
                       const IntervalSet& inside)
    : device_(device), inside_(inside) {
  const Trace& trace = input.trace;
  std::vector<Interval> running;
  in_order_of_start(trace, streams, [&](uint32_t row) {
    const GpuOperation& operation = trace.operations[row];
    // Operations come in order of start, so one that begins inside the last interval only extends it.
    if (!running.empty() && operation.start_ns <= running.back().end_ns) {
      running.back().end_ns = std::max(running.back().end_ns, operation.end_ns);
    } else if (operation.end_ns > operation.start_ns) {
      running.push_back({operation.start_ns, operation.end_ns});
    }
  });
  idle_ = inside.subtract(IntervalSet(std::move(running)));
  std::vector<Interval> queued;
  input.views.depth().for_each_step(streams, [&](const DepthStep& step) {
    const bool was = !steps_.empty() && steps_.back().waiting > 0;
    if (step.waiting > 0 && !was) queued.push_back({step.time_ns, step.time_ns});
    if (step.waiting == 0 && was) queued.back().end_ns = step.time_ns;
    steps_.push_back(step);
  });
  starved_ = idle_.subtract(IntervalSet(std::move(queued)));
  find_falls();
  find_threads(trace);
}

DepthStep DeviceIdle::depth_at(int64_t time_ns) const {
  const auto after = std::partition_point(steps_.begin(), steps_.end(),
                                          [&](const DepthStep& step) { return step.time_ns <= time_ns; });
  return after == steps_.begin() ? DepthStep{time_ns, 0, 0} : after[-1];
}

void DeviceIdle::find_falls() {
  Fall fall;
  for (const DepthStep& step : steps_) {
    if (step.waiting >= fall.peak) {
      fall.peak = step.waiting;
      fall.time.begin_ns = step.time_ns;
    }
    if (step.waiting != 0) continue;
    fall.time.end_ns = step.time_ns;
    if (fall.peak >= kPeakFrom) falls_.push_back(fall);
    fall = {};
  }
}

void DeviceIdle::find_threads(const Trace& trace) {
  std::vector<bool> uses(trace.processes.size()), has_device(trace.processes.size());
  std::vector<std::string_view> files;
  for (const Device& each : trace.devices) {
    has_device[index(each.process)] = true;
    if (each.physical != index(device_)) continue;
    uses[index(each.process)] = true;
    files.push_back(trace.processes[index(each.process)].source);
  }
  for (size_t p = 0; p < uses.size(); ++p) {
    if (has_device[p]) continue;
    uses[p] = std::find(files.begin(), files.end(), trace.processes[p].source) != files.end();
  }
  for (const Thread& thread : trace.threads) serves_.push_back(uses[index(thread.process)]);
}

std::vector<std::unique_ptr<DeviceIdle>> idle_of_devices(const AnalysisInput& input, const IntervalSet& inside) {
  std::vector<std::unique_ptr<DeviceIdle>> devices;
  const auto selected = [&](const Stream& stream) { return input.selection.has_stream(input.trace, stream); };
  for (const auto& [device, streams] : streams_by_gpu(input.trace, selected))
    devices.push_back(std::make_unique<DeviceIdle>(input, device, streams, inside));
  return devices;
}

Column<int64_t> self_times(const Trace& trace) {
  Column<int64_t> self;
  self.resize(trace.ranges.size());
  for (uint32_t t = 0; t < trace.threads.size(); ++t) {
    const Rows rows = trace.threads[t].ranges;
    if (rows.size() == 0) continue;
    int64_t end_ns = trace.ranges[rows.first].begin_ns;
    for (uint32_t row = rows.first; row < rows.last; ++row) end_ns = std::max(end_ns, trace.ranges[row].end_ns);
    HostCursor cursor(trace, ThreadId{t});
    cursor.walk(trace.ranges[rows.first].begin_ns, end_ns,
                [&](int64_t from, int64_t to, uint32_t call, uint32_t range) {
                  if (call == kNone && range != kNone) self[range] += to - from;
                });
  }
  for (const Process& process : trace.processes) {
    for (uint32_t row = process.start_end_ranges.first; row < process.start_end_ranges.last; ++row)
      self[row] = std::max<int64_t>(0, trace.ranges[row].end_ns - trace.ranges[row].begin_ns);
  }
  return self;
}

// "model.py(12): forward": the text contains ".py(" and a later closing bracket.
bool names_source(std::string_view text) {
  const size_t at = text.find(".py(");
  return at != std::string_view::npos && text.find(')', at) != std::string_view::npos;
}

Column<uint32_t> source_ranges(const Trace& trace) {
  Column<uint32_t> source;
  source.resize(trace.ranges.size());
  std::vector<int8_t> names(trace.labels.size(), -1);  // by label, -1: not checked yet
  for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
    const Range& range = trace.ranges[row];
    int8_t& is_source = names[index(range.label)];
    if (is_source < 0) is_source = names_source(trace.range_name(range)) ? 1 : 0;
    // Rows of a thread are sorted by start, so a parent comes first.
    source[row] = is_source == 1 ? row : range.parent == kNone || range.parent >= row ? kNone : source[range.parent];
  }
  return source;
}

}  // namespace prof::analyzer
