// Which counter tracks does the Chrome trace have? They are under the GPU that they describe. The name of the series is
// the unit. Perfetto prints it after the counter's name ("GPU busy %"), chrome://tracing next to the value. So the
// counter's name does not contain the unit. Names are short, because Perfetto cuts long names in the middle.
//   stream 7 waiting {operations}      exact, a step at every change
//   GPU waiting {operations}           the same over all streams, if there are several
//   GPU outstanding {operations}       launched and not finished, over all streams
//   stream 7 live depth {operations}   what the program knew at each launch
//   GPU busy {%}                       union of the device's operations, per bucket
// If GPU times were recorded in bursts, all of these are omitted except the live depth.
//   dram__bytes_read.sum {bytes}       hardware counters: the value of each kernel while it ran, then 0
//   tensor active {%}                  hardware samples: the value during the sample; 0 while there is none
//   GPU memory {bytes} live bytes of allocations in a log; "pool 1 memory" of one pool, if there are any
#include "analyzer/analysis/memory_timeline.h"
#include "analyzer/output/chrome/chrome_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {

namespace {

class CounterTrack {
 public:
  CounterTrack(const ChromeContext& context, DeviceId device, const std::string& name, const char* unit)
      : events_(context.events),
        offset_ns_(context.offset_ns),
        in_file_(context.counters[index(context.trace.device(device).process)].contains(
                     fmt::format("{} {}", json_string(name), context.device_pids[index(device)])) ||
                 !context.selects_device(device)) {
    if (context.selection != nullptr) {
      from_ns_ = context.selection->from_ns;
      to_ns_ = context.selection->to_ns;
    }
    if (!in_file_) counter_ = events_.counter(context.device_pids[index(device)], name, unit);
  }

  void count(int64_t time_ns, uint64_t value) {
    put(time_ns, [&, value](int64_t at) { events_.count(counter_, at, value); });
  }
  void real(int64_t time_ns, double value) {
    put(time_ns, [&, value](int64_t at) { events_.real(counter_, at, value); });
  }
  void tenths(int64_t time_ns, uint64_t value) {
    put(time_ns, [&, value](int64_t at) { events_.tenths(counter_, at, value); });
  }

 private:
  // In a window, the track starts with the value that holds at its start.
  template <class Write> void put(int64_t time_ns, Write write) {
    if (in_file_ || time_ns >= to_ns_) return;
    if (time_ns < from_ns_) {
      at_start_ = write;
      return;
    }
    if (at_start_ && time_ns > from_ns_) at_start_(from_ns_ + offset_ns_);
    at_start_ = nullptr;
    write(time_ns + offset_ns_);
  }

  EventList& events_;
  int64_t offset_ns_;
  bool in_file_;  // it is not written: the input is a trace of ours and already has it, or its GPU is not selected
  int64_t from_ns_ = INT64_MIN, to_ns_ = INT64_MAX;
  std::function<void(int64_t)> at_start_;
  EventList::Counter counter_;
};

void queue_waiting(const ChromeContext& context, StreamId stream) {
  CounterTrack track(context, context.trace.stream(stream).device,
                     fmt::format("{} waiting", context.ids.stream_names[index(stream)]), "operations");
  uint32_t last = 0;
  context.views.depth().for_each_step({stream}, [&](const DepthStep& step) {
    if (step.waiting != last) track.count(step.time_ns, step.waiting);
    last = step.waiting;
  });
}

void device_depth(const ChromeContext& context, DeviceId device) {
  std::vector<StreamId> streams;
  for (uint32_t s = 0; s < context.trace.streams.size(); ++s) {
    const Stream& stream = context.trace.streams[s];
    if (stream.device == device && stream.operations.size() != 0) streams.push_back(StreamId{s});
  }
  if (streams.empty()) return;
  CounterTrack waiting(context, device, "GPU waiting", "operations");
  CounterTrack outstanding(context, device, "GPU outstanding", "operations");
  DepthStep last;
  context.views.depth().for_each_step(streams, [&](const DepthStep& step) {
    if (streams.size() > 1 && step.waiting != last.waiting) waiting.count(step.time_ns, step.waiting);
    if (step.outstanding != last.outstanding) outstanding.count(step.time_ns, step.outstanding);
    last = step;
  });
}

// Launches, by the stream to which their handle refers.
void live_depth(const ChromeContext& context) {
  const Trace& trace = context.trace;
  const bool recorded = std::any_of(trace.host.begin(), trace.host.end(),
                                    [](const HostEvent& e) { return e.is_launch() && e.live_depth != 0; });
  if (!recorded) return;
  std::vector<std::optional<CounterTrack>> tracks(trace.streams.size());
  for (const HostEvent& event : trace.host) {
    if (!event.is_launch() || event.has(kHostCaptured)) continue;
    const uint32_t stream = trace.host_streams[index(event.stream)].stream;
    if (stream == kNone || trace.streams[stream].operations.size() == 0) continue;
    if (!tracks[stream]) {
      tracks[stream].emplace(context, trace.streams[stream].device,
                             fmt::format("{} live depth", context.ids.stream_names[stream]), "operations");
    }
    tracks[stream]->count(event.begin_ns, event.live_depth);
  }
}

// The width is 1, 2 or 5 times a power of ten and at least 10 us. There are at most 1,000 buckets.
int64_t bucket_width(int64_t window_ns) {
  int64_t width = 10'000;
  for (int step = 0; window_ns / width >= 1000; ++step) width = step % 3 == 1 ? width / 2 * 5 : width * 2;
  return width;
}

void gpu_busy(const ChromeContext& context, DeviceId device) {
  const IntervalSet& busy = context.views.busy()[index(device)];
  if (busy.empty()) return;
  const int64_t first_ns = busy.parts().front().begin_ns, last_ns = busy.parts().back().end_ns;
  const int64_t width = bucket_width(last_ns - first_ns);
  CounterTrack track(context, device, "GPU busy", "%");
  int64_t shown = -1;
  for (int64_t begin = first_ns; begin <= last_ns; begin += width) {
    const int64_t length = std::min(width, last_ns - begin);
    const auto covered = static_cast<unsigned __int128>(busy.overlap_ns(begin, begin + length));
    const auto whole = static_cast<uint64_t>(length);
    const int64_t per_mille = length > 0 ? static_cast<int64_t>((covered * 1000 + whole / 2) / whole) : 0;
    if (per_mille != shown && length > 0) {
      track.tenths(begin, static_cast<uint64_t>(per_mille));
    }
    shown = length > 0 ? per_mille : shown;
  }
  track.count(last_ns, 0);
}

void write_live(const ChromeContext& context, DeviceId device, const std::string& name,
                const MemoryTimeline& timeline) {
  CounterTrack track(context, device, name, "bytes");
  for (const MemoryChange& change : timeline.changes)
    track.count(change.time_ns, static_cast<uint64_t>(std::max<int64_t>(change.live, 0)));
}

// Records of frameworks about their allocators are skipped, because the trace contains them already.
void gpu_memory(const ChromeContext& context) {
  const Selection all;
  const ReportOptions options;
  for (const MemoryTimeline& timeline : memory_timelines({context.trace, context.views, all, options})) {
    if (timeline.from_allocator || timeline.place != MemoryTimeline::OnDevice) continue;
    for (uint32_t d = 0; d < context.trace.devices.size(); ++d) {
      const Device& device = context.trace.devices[d];
      if (index(device.process) != timeline.process || device.ordinal != timeline.device) continue;
      write_live(context, DeviceId{d}, "GPU memory", timeline);
      for (const PoolTimeline& part : timelines_of_pools(context.trace, timeline)) {
        if (part.pool != 0)
          write_live(context, DeviceId{d}, pool_text(context.trace, part.pool) + " memory", part.timeline);
      }
    }
  }
}

std::string_view unit_of(std::string_view metric) {
  constexpr std::pair<std::string_view, std::string_view> kUnits[] = {
      {".pct", "%"},           {"per_second", "1/s"}, {"bytes", "bytes"},    {"inst", "instructions"},
      {"_ops_", "operations"}, {"cycles", "cycles"},  {"sector", "sectors"}, {"request", "requests"}};
  for (const auto& [part, unit] : kUnits) {
    if (metric.find(part) != std::string_view::npos) return unit;
  }
  return "value";
}

// Returns the first metrics that have a value other than 0. Times need no track.
std::vector<StringId> tracked_metrics(const Trace& trace, const std::vector<uint32_t>& operations) {
  constexpr size_t kMostTracks = 8;
  std::vector<StringId> metrics;
  std::vector<bool> done(trace.strings.size());
  for (const uint32_t row : operations) {
    const CounterRow& counted = *trace.counters.of_operation(trace, row);
    const CounterSet& set = trace.counters.sets[counted.set];
    for (size_t i = 0; i < set.metrics.size(); ++i) {
      const double value = trace.counters.values_of(counted)[i];
      const StringId metric = set.metrics[i];
      if (done[index(metric)] || !std::isfinite(value) || value == 0 || trace.text(metric) == kCounterTime) continue;
      done[index(metric)] = true;
      metrics.push_back(metric);
    }
  }
  std::sort(metrics.begin(), metrics.end(), [&](StringId a, StringId b) { return trace.text(a) < trace.text(b); });
  if (metrics.size() > kMostTracks) metrics.resize(kMostTracks);
  return metrics;
}

void hardware_counters(const ChromeContext& context, DeviceId device) {
  const Trace& trace = context.trace;
  std::vector<uint32_t> operations;
  for (const Stream& stream : trace.streams) {
    if (stream.device != device) continue;
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
      if (trace.counters.of_operation(trace, row) != nullptr) operations.push_back(row);
    }
  }
  std::stable_sort(operations.begin(), operations.end(),
                   [&](uint32_t a, uint32_t b) { return trace.operations[a].start_ns < trace.operations[b].start_ns; });
  for (const StringId metric : tracked_metrics(trace, operations)) {
    const std::string name(trace.text(metric));
    CounterTrack track(context, device, name, unit_of(name).data());
    for (size_t i = 0; i < operations.size(); ++i) {
      const GpuOperation& operation = trace.operations[operations[i]];
      const CounterRow& counted = *trace.counters.of_operation(trace, operations[i]);
      const uint32_t at = metric_index(trace, trace.counters.sets[counted.set], name);
      const double value = at == kNone ? 0 : trace.counters.values_of(counted)[at];
      track.real(operation.start_ns, std::isfinite(value) ? value : 0);
      const bool last = i + 1 == operations.size();
      if (last || trace.operations[operations[i + 1]].start_ns > operation.end_ns) track.count(operation.end_ns, 0);
    }
  }
}

// One step per change of the displayed number, in readable units. Equal consecutive numbers are one step.
void sampled_counters(const ChromeContext& context, uint32_t set) {
  const SampleTable& samples = context.trace.samples;
  const SampledSet& of = samples.sets[set];
  for (size_t m = 0; m < of.metrics.size(); ++m) {
    const SampledUnit unit = sampled_unit(context.trace.text(of.metrics[m]));
    CounterTrack track(context, of.device, unit.name, unit.unit.empty() ? "value" : unit.unit.c_str());
    std::optional<double> shown;
    const auto show = [&](int64_t time_ns, double value) {
      if (shown == value) return;
      shown = value;
      track.real(time_ns, value);
    };
    for (size_t row = of.first; row < of.last; ++row) {
      const SampleRow& at = samples.rows[row];
      const double value = unit.of(samples.values_of(set, row)[m], std::max<int64_t>(at.end_ns - at.begin_ns, 1));
      show(at.begin_ns, std::isfinite(value) ? std::round(value * 1000) / 1000 : 0);
      if (row + 1 == of.last || samples.rows[row + 1].begin_ns > at.end_ns) show(at.end_ns, 0);
    }
  }
}

// The name of the series: the unit, with the limits that the program declared.
std::string series_of(const Trace& trace, const ProgramCounter& counter) {
  std::string series(trace.text(counter.unit));
  if (series.empty()) series = "value";
  if (counter.min && counter.max) return fmt::format("{} ({} to {})", series, *counter.min, *counter.max);
  if (counter.min) return fmt::format("{} (at least {})", series, *counter.min);
  return counter.max ? fmt::format("{} (at most {})", series, *counter.max) : series;
}

// Counters that the program sampled through NVTX, under its process. The name includes the scope, if the program
// declared one. A value that holds since the previous NVTX sample is written at the time of that sample.
void program_counters(const ChromeContext& context) {
  const Trace& trace = context.trace;
  const CounterSample* before = nullptr;
  std::vector<EventList::Counter> counters(trace.program_counters.size());
  for (const CounterSample& sample : trace.counter_samples) {
    const ProgramCounter& counter = trace.program_counters[sample.counter];
    if (!context.writes(counter.process) || !context.in_window(sample.time_ns, sample.time_ns)) continue;
    const bool since_last = (counter.flags & kCounterBetweenMask) == kCounterSinceLast;
    const bool has_before = before != nullptr && before->counter == sample.counter;
    const int64_t time_ns = since_last && has_before ? before->time_ns : sample.time_ns;
    before = &sample;
    EventList::Counter& track = counters[sample.counter];
    if (track.track == 0 && track.head.empty()) {
      const std::string_view domain = trace.text(counter.domain), scope = trace.text(counter.scope);
      std::string name(trace.text(counter.name));
      if (!scope.empty()) name = fmt::format("{}/{}", scope, name);
      if (!domain.empty()) name = fmt::format("{}: {}", domain, name);
      track = context.events.counter(fmt::format("{}", context.ids.process[index(counter.process)]), name,
                                     series_of(trace, counter));
    }
    context.events.real(track, time_ns + context.offset_ns, std::isfinite(sample.value) ? sample.value : 0);
  }
}

// The activity of a GPU between bursts of PROF_BUDGET is unknown. A track would show it as 0.
bool in_bursts(const ChromeContext& context, DeviceId device) {
  return context.views.bursts().applies(context.trace.device(device).process);
}

}  // namespace

void write_program_counters(const ChromeContext& context) { program_counters(context); }

void write_chrome_counters(const ChromeContext& context) {
  const Trace& trace = context.trace;
  for (uint32_t s = 0; s < trace.streams.size(); ++s) {
    if (trace.streams[s].operations.size() == 0 || in_bursts(context, trace.streams[s].device)) continue;
    queue_waiting(context, StreamId{s});
  }
  live_depth(context);
  for (uint32_t d = 0; d < trace.devices.size(); ++d) {
    if (!in_bursts(context, DeviceId{d})) {
      device_depth(context, DeviceId{d});
      gpu_busy(context, DeviceId{d});
    }
    if (!trace.counters.launches.empty()) hardware_counters(context, DeviceId{d});
  }
  for (uint32_t s = 0; s < trace.samples.sets.size(); ++s) {
    if (context.writes(trace.device(trace.samples.sets[s].device).process)) sampled_counters(context, s);
  }
  gpu_memory(context);
}

}  // namespace prof::analyzer
