// queue-depth: time-weighted statistics of the exact depth per stream, device and process, and how far the live value of
// the launch records was from it. A depth holds from one change to the next; the weight of a value is the time it held,
// from the first launch to the last GPU end of the row's streams. Definitions: model/queue_depth.h.
#include "analyzer/analysis/analysis.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>

namespace prof::analyzer {

namespace {

// How long each value held.
class WeightedDepth {
 public:
  void hold(uint32_t value, int64_t ns) {
    if (ns > 0) held_ns_[value] += ns, total_ns_ += ns;
  }
  int64_t total_ns() const { return total_ns_; }
  double mean() const {
    double sum = 0;
    for (const auto& [value, ns] : held_ns_) sum += static_cast<double>(value) * static_cast<double>(ns);
    return total_ns_ > 0 ? sum / static_cast<double>(total_ns_) : 0;
  }
  // The smallest value such that the depth was at most that for the share `q` of the time.
  uint32_t quantile(double q) const {
    double until = 0;
    for (const auto& [value, ns] : held_ns_) {
      until += static_cast<double>(ns);
      if (until >= q * static_cast<double>(total_ns_)) return value;
    }
    return most();
  }
  uint32_t most() const { return held_ns_.empty() ? 0 : held_ns_.rbegin()->first; }

 private:
  std::map<uint32_t, int64_t> held_ns_;
  int64_t total_ns_ = 0;
};

struct LiveError {
  uint64_t launches = 0, exact = 0, too_low = 0;
  double sum = 0;
  int64_t largest = 0;
  void add(int64_t error) {
    ++launches;
    exact += error == 0 ? 1 : 0;
    too_low += error < 0 ? 1 : 0;
    sum += static_cast<double>(error);
    if (std::abs(error) > std::abs(largest)) largest = error;
  }
  void add(const LiveError& other) {
    launches += other.launches, exact += other.exact, too_low += other.too_low, sum += other.sum;
    if (std::abs(other.largest) > std::abs(largest)) largest = other.largest;
  }
};

std::vector<LiveError> live_errors(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  std::vector<LiveError> errors(trace.streams.size());
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    const HostEvent& event = trace.host[row];
    const LaunchDepth depth = input.views.depth().at_launch()[row];
    const uint32_t stream = trace.host_streams[index(event.stream)].stream;
    if (!depth.known() || stream == kNone || !input.selection.in_window(event.begin_ns, event.begin_ns)) continue;
    if (!input.selection.has_thread(trace.thread(event.thread)) || !trace.process_of(event).has_live_depth()) continue;
    errors[stream].add(static_cast<int64_t>(event.live_depth) - static_cast<int64_t>(depth.outstanding));
  }
  return errors;
}

}  // namespace

Table report_queue_depth(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table("queue-depth", "Queue depth by stream, device and process");
  table.add_column("Pid", "pid", CellType::Count);
  table.add_column("Device", "device", CellType::Text);
  table.add_column("Ctx", "context", CellType::Text);
  table.add_column("Strm", "stream", CellType::Text);
  table.add_column("Time", "time", CellType::Nanoseconds);
  for (const auto& [title, key] : {std::pair{"Waiting", "waiting"}, {"Outst", "outstanding"}}) {
    table.add_column(fmt::format("{} mean", title), fmt::format("{}_mean", key), CellType::Real, 2);
    for (const char* part : {"p50", "p99", "max"}) {
      table.add_column(fmt::format("{} {}", title, part), fmt::format("{}_{}", key, part), CellType::Count);
    }
  }
  table.add_column("Launches", "launches", CellType::Count);
  table.add_column("Live exact (%)", "live_exact_percent", CellType::Real, 1);
  table.add_column("Live error mean", "live_error_mean", CellType::Real, 2);
  table.add_column("Live error most", "live_error_most", CellType::Count);
  table.add_column("Live too low", "live_too_low", CellType::Count);
  table.notes.push_back("waiting: launched, not started; outstanding: launched, not finished; weighted by time");
  table.notes.push_back(
      "live: depth in the launch record minus exact outstanding at that launch (an upper bound: never too low)");

  const std::vector<LiveError> errors = live_errors(input);
  const auto add_row = [&](const Process& process, std::string_view device, std::string_view context,
                           std::string_view stream, const std::vector<StreamId>& streams) {
    WeightedDepth waiting, outstanding;
    DepthStep last{INT64_MIN, 0, 0};
    const auto hold = [&](int64_t until) {
      if (last.time_ns == INT64_MIN) return;
      const int64_t ns = std::min(until, input.selection.to_ns) - std::max(last.time_ns, input.selection.from_ns);
      waiting.hold(last.waiting, ns), outstanding.hold(last.outstanding, ns);
    };
    input.views.depth().for_each_step(streams, [&](const DepthStep& step) {
      hold(step.time_ns);
      last = step;
    });
    LiveError error;
    for (const StreamId each : streams) error.add(errors[index(each)]);
    Table::Row row = table.row();
    row.add(process.pid).add(device).add(context).add(stream).add(waiting.total_ns());
    for (const WeightedDepth* depth : {&waiting, &outstanding}) {
      row.add(depth->mean()).add(depth->quantile(0.5)).add(depth->quantile(0.99)).add(depth->most());
    }
    row.add(error.launches);
    if (error.launches == 0) return;
    const double launches = static_cast<double>(error.launches);
    row.add(100 * static_cast<double>(error.exact) / launches)
        .add(error.sum / launches)
        .add(error.largest)
        .add(error.too_low);
  };
  for (size_t p = 0; p < trace.processes.size(); ++p) {
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
        add_row(trace.processes[p], std::to_string(device.ordinal), std::to_string(stream.context),
                std::to_string(stream.number), {StreamId{s}});
      }
      if (of_device.empty()) continue;
      ++devices;
      of_process.insert(of_process.end(), of_device.begin(), of_device.end());
      add_row(trace.processes[p], std::to_string(device.ordinal), "", "all", of_device);
    }
    if (devices > 1) add_row(trace.processes[p], "all", "", "all", of_process);
  }
  return table;
}

}  // namespace prof::analyzer
