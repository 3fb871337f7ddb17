// queue-depth: how deep were the queues? The report has time-weighted statistics of the exact depth per stream, device
// and process. It also has launches held by a full queue, and the error of the live value in launch records. A depth
// holds from one change to the next. The weight of a value is the time for which it held, from the first launch to the
// last GPU end of the row's streams. Definitions: model/waiting_operations.h. Definitions of other tools
// (`--definitions hta`, `reference`): hta_queue_length.h and torch_queue_depth.h.
#include "analyzer/analysis/idle/full_queue_launches.h"
#include "analyzer/analysis/idle/hta_queue_length.h"
#include "analyzer/analysis/idle/torch_queue_depth.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/base/saturated.h"
#include "analyzer/base/statistics.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>

namespace prof::analyzer {

namespace {

// How long each value held. A depth is at most the number of operations, so the table has an element for each value.
class WeightedDepth {
 public:
  void hold(uint32_t value, int64_t ns) {
    if (ns <= 0) return;
    if (value >= held_ns_.size()) held_ns_.resize(value + size_t{1});
    grow(held_ns_[value], ns);
    grow(total_ns_, ns);
  }
  int64_t total_ns() const { return total_ns_; }
  double mean() const {
    double sum = 0;
    for (size_t value = 0; value < held_ns_.size(); ++value)
      sum += static_cast<double>(value) * static_cast<double>(held_ns_[value]);
    return total_ns_ > 0 ? sum / static_cast<double>(total_ns_) : 0;
  }
  // The smallest depth that was not exceeded for the share `q` of the time.
  uint32_t quantile(double q) const {
    double until = 0;
    for (uint32_t value = 0; value < held_ns_.size(); ++value) {
      until += static_cast<double>(held_ns_[value]);
      if (held_ns_[value] > 0 && until >= q * static_cast<double>(total_ns_)) return value;
    }
    return most();
  }
  // The last element of the vector is a value that held for some time.
  uint32_t most() const { return held_ns_.empty() ? 0 : static_cast<uint32_t>(held_ns_.size() - 1); }

 private:
  std::vector<int64_t> held_ns_;  // value -> time
  int64_t total_ns_ = 0;
};

struct LiveError {
  uint64_t launches = 0, exact = 0, too_low = 0;
  double sum = 0;
  int64_t largest = 0;
  // `uncertain`: operations that may not have been in the queue yet.
  void add(int64_t error, uint32_t uncertain) {
    ++launches;
    exact += error == 0 ? 1 : 0;
    too_low += error + uncertain < 0 ? 1 : 0;
    sum += static_cast<double>(error);
    if (std::abs(error) > std::abs(largest)) largest = error;
  }
  void add(const LiveError& other) {
    launches += other.launches;
    exact += other.exact;
    too_low += other.too_low;
    sum += other.sum;
    if (std::abs(other.largest) > std::abs(largest)) largest = other.largest;
  }
};

// The operations that other threads were launching when a launch was entered. Their calls had begun and had not
// returned, so it is not known whether they were in the queue.
class LaunchedMeanwhile {
 public:
  explicit LaunchedMeanwhile(const Trace& trace) : trace_(trace) {}
  uint32_t operations(const HostEvent& launch) {
    uint32_t sum = 0;
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) {
      const Thread& thread = trace_.threads[t];
      if (ThreadId{t} == launch.thread || thread.process != trace_.thread(launch.thread).process) continue;
      uint32_t row = thread.host.first;
      for (uint32_t last = thread.host.last; row < last;) {
        const uint32_t middle = row + (last - row) / 2;
        (trace_.host[middle].begin_ns <= launch.begin_ns ? row = middle + 1 : last = middle);
      }
      constexpr uint32_t kDeepest = 8;  // calls inside each other
      for (uint32_t i = 0; i < kDeepest && row > thread.host.first; ++i) {
        const HostEvent& other = trace_.host[--row];
        if (other.is_launch() && other.end_ns > launch.begin_ns && other.stream == launch.stream)
          sum += operations_of(row);
      }
    }
    return sum;
  }

 private:
  uint32_t operations_of(uint32_t row) {
    if (operations_.empty()) {
      operations_.resize(trace_.host.size());
      for (const GpuOperation& operation : trace_.operations) {
        if (operation.linked()) ++operations_[operation.launch];
      }
    }
    return operations_[row];
  }

  const Trace& trace_;
  std::vector<uint32_t> operations_;  // by row of Trace::host; empty: never asked for
};

std::vector<LiveError> live_errors(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  LaunchedMeanwhile meanwhile(trace);
  std::vector<LiveError> errors(trace.streams.size());
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    const HostEvent& event = trace.host[row];
    const LaunchDepth depth = input.views.depth().at_launch()[row];
    const uint32_t stream = trace.host_streams[index(event.stream)].stream;
    if (!trace.process_of(event).is_prof_log()) continue;  // logs of other tools have no live value
    if (!depth.known() || stream == kNone || !input.selection.in_window(event.begin_ns, event.begin_ns)) continue;
    if (!input.selection.has_thread(trace.thread(event.thread)) || !trace.process_of(event).has_live_depth()) continue;
    const int64_t error = static_cast<int64_t>(event.live_depth) - static_cast<int64_t>(depth.outstanding);
    errors[stream].add(error, error < 0 ? meanwhile.operations(event) : 0);
  }
  return errors;
}

// Launches that a full queue held, by stream.
struct HeldLaunches {
  uint64_t launches = 0;
  int64_t time_ns = 0;
  void add(const HeldLaunches& other) {
    launches += other.launches;
    grow(time_ns, other.time_ns);
  }
};

class HeldByStream {
 public:
  explicit HeldByStream(const AnalysisInput& input) : of_stream_(input.trace.streams.size()) {
    const Trace& trace = input.trace;
    const FullQueueLaunches full(trace, input.views);
    for (uint32_t row = 0; row < trace.host.size(); ++row) {
      if (!full.held(row)) continue;
      const HostEvent& event = trace.host[row];
      const uint32_t stream = trace.host_streams[index(event.stream)].stream;
      if (stream == kNone || !input.selection.in_window(event.begin_ns, event.end_ns)) continue;
      if (!input.selection.has_thread(trace.thread(event.thread))) continue;
      of_stream_[stream].add({1, event.duration_ns()});
      all_.add({1, event.duration_ns()});
      ++found_at_[input.views.depth().at_launch()[row].outstanding];
    }
  }
  HeldLaunches of(const std::vector<StreamId>& streams) const {
    HeldLaunches sum;
    for (const StreamId stream : streams) {
      sum.add(of_stream_[index(stream)]);
    }
    return sum;
  }
  // The plateau is the depth at which most of these launches were held.
  std::string note() const {
    if (all_.launches == 0) return {};
    const auto most = std::max_element(found_at_.begin(), found_at_.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return fmt::format(
        "queue full: {} launch calls with {} or more outstanding took longer than {} times their median, {} in all; "
        "plateau {} ({} to {})",
        all_.launches, kQueueFullFrom, kLongLaunchMedians, scaled_time(all_.time_ns), most->first,
        found_at_.begin()->first, found_at_.rbegin()->first);
  }

 private:
  std::vector<HeldLaunches> of_stream_;
  HeldLaunches all_;
  std::map<uint32_t, uint64_t> found_at_;  // outstanding -> launches
};

// The time that is counted: the selection. If --window is not the default, the requested windows.
IntervalSet counted_time(const AnalysisInput& input) {
  constexpr int64_t kFar = int64_t{1} << 61;
  if (input.options.window == "gpu")
    return IntervalSet({{std::max(input.selection.from_ns, -kFar), std::min(input.selection.to_ns, kFar)}});
  std::vector<Interval> parts;
  for (const Window& window : report_windows(input)) parts.push_back({window.begin_ns, window.end_ns});
  return IntervalSet(std::move(parts));
}

// The columns of pandas' describe() of a series.
void add_description(Table::Row& row, std::vector<int64_t>& values) {
  const Statistics all = statistics_of(values);
  row.add(all.count);
  if (all.count == 0) return;
  row.add(all.mean);
  row.add_if(all.count > 1, all.stddev);
  row.add(all.min).add(all.q1).add(all.median).add(all.q3).add(all.max);
}
void add_description_columns(Table& table) {
  table.add_columns({ColumnId::count, ColumnId::depth_mean, ColumnId::depth_std, ColumnId::depth_min,
                     ColumnId::depth_p25, ColumnId::depth_p50, ColumnId::depth_p75, ColumnId::depth_max});
}

// Calls visit(process, device, context, stream, streams) for every stream with operations, every device and the total.
template <class Visit> void for_each_group(const AnalysisInput& input, Visit visit);

Table depth_by_hta(const AnalysisInput& input) {
  Table table("queue-depth", "Queue length by the definition of Holistic Trace Analysis");
  table.add_columns({ColumnId::pid, ColumnId::devices, ColumnId::contexts, ColumnId::streams});
  add_description_columns(table);
  table.add_columns({ColumnId::depth_last, ColumnId::depth_weighted_mean});
  table.notes.push_back(
      "+1 at the start of the launch call, -1 at the start on the GPU; statistics of the steps, not of time");
  const HtaRules rules(input.trace);
  uint64_t left_out = 0;
  for_each_group(input, [&](ProcessId process, std::string_view device, std::string_view context,
                            std::string_view stream, const std::vector<StreamId>& streams) {
    const HtaQueueLength length(input.trace, streams, &rules);
    if (stream != "all") left_out += length.left_out;
    std::vector<int64_t> values;
    for (const HtaQueueLength::Step& step : length.steps) {
      if (input.selection.in_window(step.time_ns, step.time_ns)) values.push_back(step.length);
    }
    if (values.empty()) return;  // like HTA, no row for a stream without a launch
    Table::Row row = table.row();
    row.add_owner(process).add(device).add(context).add(stream);
    add_description(row, values);
    row.add(length.last()).add(length.weighted_mean());
  });
  if (left_out > 0) {
    table.notes.push_back(fmt::format(
        "{} operations left out: no launch in the input, or one that HTA's queue length does not know by name",
        left_out));
  }
  return table;
}

Table by_reference(const AnalysisInput& input) {
  Table table("queue-depth", "Queue depth by the index rule of torch.profiler._utils");
  add_description_columns(table);
  table.add_column(ColumnId::idle);
  table.notes.push_back(
      "one depth over all streams, devices and threads, at launches and kernels; statistics of these points");
  const TorchQueueDepth queue(input.trace, input.views);
  std::vector<int64_t> values;
  for (const TorchQueueDepth::Point& point : queue.points()) {
    if (input.selection.in_window(point.start_ns, point.start_ns)) values.push_back(point.depth);
  }
  Table::Row row = table.row();
  const bool any = !values.empty();
  add_description(row, values);
  if (any) row.add(queue.idle().length_ns());
  return table;
}

template <class Visit> void for_each_group(const AnalysisInput& input, Visit visit) {
  const Trace& trace = input.trace;
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    std::vector<StreamId> of_process;
    size_t devices = 0;
    for (size_t d = 0; d < trace.devices.size(); ++d) {
      const Device& device = trace.devices[d];
      if (index(device.process) != p) continue;
      std::vector<StreamId> of_device;
      for (uint32_t s = 0; s < trace.streams.size(); ++s) {
        const Stream& stream = trace.streams[s];
        if (stream.operations.size() == 0 || index(stream.device) != d || !input.selection.has_stream(trace, stream))
          continue;
        of_device.push_back(StreamId{s});
        visit(ProcessId{p}, std::to_string(device.ordinal), std::to_string(stream.context),
              std::to_string(stream.number), std::vector<StreamId>{StreamId{s}});
      }
      if (of_device.empty()) continue;
      ++devices;
      of_process.insert(of_process.end(), of_device.begin(), of_device.end());
      visit(ProcessId{p}, std::to_string(device.ordinal), "", "all", of_device);
    }
    if (devices > 1) visit(ProcessId{p}, "all", "", "all", of_process);
  }
}

}  // namespace

Table report_queue_depth(const AnalysisInput& input) {
  if (input.options.definitions == Definitions::Hta) return depth_by_hta(input);
  if (input.options.definitions == Definitions::Reference) return by_reference(input);
  Table table("queue-depth", "Queue depth by stream, device and process");
  table.add_columns({ColumnId::pid, ColumnId::devices, ColumnId::contexts, ColumnId::streams, ColumnId::time});
  table.add_columns({ColumnId::waiting_mean, ColumnId::waiting_p50, ColumnId::waiting_p99, ColumnId::waiting_max,
                     ColumnId::outstanding_mean, ColumnId::outstanding_p50, ColumnId::outstanding_p99,
                     ColumnId::outstanding_max});
  table.add_columns({ColumnId::full_launches, ColumnId::full_time, ColumnId::launches, ColumnId::live_exact_percent,
                     ColumnId::live_error_mean, ColumnId::live_error_most, ColumnId::live_too_low});
  table.notes.push_back("waiting: launched, not started; outstanding: launched, not finished; weighted by time");
  table.notes.push_back(
      "live: depth in the launch record minus exact outstanding at that launch (an upper bound: never too low)");

  const HeldByStream held(input);
  if (const std::string note = held.note(); !note.empty()) table.notes.push_back(note);
  const IntervalSet counted = counted_time(input);
  const std::vector<LiveError> errors = live_errors(input);
  WeightedDepth waiting, outstanding;
  std::vector<StreamId> measured;
  bool any_step = false;
  uint64_t streams_without_launch = 0;
  const auto measure = [&](const std::vector<StreamId>& streams) {
    if (streams == measured) return;  // a device with one stream, or a process with one device
    measured = streams;
    waiting = outstanding = {};
    any_step = false;
    DepthStep last{INT64_MIN, 0, 0};
    const auto hold = [&](int64_t until) {
      if (last.time_ns == INT64_MIN) return;
      const int64_t ns = counted.overlap_ns(last.time_ns, until);
      waiting.hold(last.waiting, ns);
      outstanding.hold(last.outstanding, ns);
    };
    input.views.depth().for_each_step(streams, [&](const DepthStep& step) {
      hold(step.time_ns);
      last = step;
      any_step = true;
    });
  };
  for_each_group(input, [&](ProcessId process, std::string_view device, std::string_view context,
                            std::string_view stream, const std::vector<StreamId>& streams) {
    measure(streams);
    if (!any_step) {
      streams_without_launch += stream == "all" ? 0 : 1;
      return;
    }
    LiveError error;
    for (const StreamId each : streams) error.add(errors[index(each)]);
    Table::Row row = table.row();
    row.add_owner(process).add(device).add(context).add(stream).add(waiting.total_ns());
    for (const WeightedDepth* depth : {&waiting, &outstanding}) {
      row.add(depth->mean()).add(depth->quantile(0.5)).add(depth->quantile(0.99)).add(depth->most());
    }
    const HeldLaunches full = held.of(streams);
    row.add(full.launches).add(full.time_ns).add(error.launches);
    if (error.launches == 0) return;
    const double launches = static_cast<double>(error.launches);
    row.add(100 * static_cast<double>(error.exact) / launches)
        .add(error.sum / launches)
        .add(error.largest)
        .add(error.too_low);
  });
  if (streams_without_launch > 0) {
    table.notes.push_back(
        fmt::format("{} streams left out: no launch of their operations is in the input", streams_without_launch));
  }
  return table;
}

}  // namespace prof::analyzer
