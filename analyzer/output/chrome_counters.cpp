// Counter tracks of the Chrome trace, under the GPU they are about. The unit is the name of the series: Perfetto writes it
// behind the counter's name ("GPU busy %"), chrome://tracing beside the value, so it must not be in the name as well;
// and Perfetto cuts long names in the middle, so they are short.
//   stream 7 waiting {operations}      exact, a step at every change
//   stream 7 live depth {operations}   what the program knew at each launch
//   GPU busy {%}                       union of the device's operations, per bucket
#include "analyzer/output/chrome_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace prof::analyzer {

namespace {

class CounterTrack {
 public:
  CounterTrack(EventList& events, uint64_t pid, const std::string& name, const char* unit)
      : events_(events),
        head_(fmt::format("{{\"ph\":\"C\",\"name\":{},\"pid\":{},\"tid\":0,\"ts\":", json_string(name), pid)),
        value_(fmt::format(",\"args\":{{\"{}\":", unit)) {}

  template <class PutValue> void add(int64_t time_ns, PutValue&& put_value) {
    char* to = events_.begin(head_.size() + value_.size() + 96);
    to = put_bytes(to, head_);
    to = put_micros(to, time_ns);
    to = put_bytes(to, value_);
    to = put_value(to);
    events_.end(put_bytes(to, "}}"));
  }
  void count(int64_t time_ns, uint64_t value) {
    add(time_ns, [&](char* to) { return put_decimal(to, value); });
  }

 private:
  EventList& events_;
  std::string head_, value_;
};

void queue_waiting(const ChromeContext& context, StreamId stream, uint64_t pid) {
  CounterTrack track(context.events, pid, fmt::format("{} waiting", context.ids.stream_names[index(stream)]),
                     "operations");
  uint32_t last = 0;
  context.depth.for_each_step({stream}, [&](const DepthStep& step) {
    if (step.waiting != last) track.count(step.time_ns, step.waiting);
    last = step.waiting;
  });
}

// Launches by the stream behind their handle.
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
      tracks[stream].emplace(context.events, context.ids.device[index(trace.streams[stream].device)],
                             fmt::format("{} live depth", context.ids.stream_names[stream]), "operations");
    }
    tracks[stream]->count(event.begin_ns, event.live_depth);
  }
}

// At most 1,000 buckets of 1, 2 or 5 times a power of ten, at least 10 us wide.
int64_t bucket_width(int64_t window_ns) {
  int64_t width = 10'000;
  for (int step = 0; window_ns / width >= 1000; ++step) width = step % 3 == 1 ? width / 2 * 5 : width * 2;
  return width;
}

void gpu_busy(const ChromeContext& context, DeviceId device) {
  const Trace& trace = context.trace;
  std::vector<std::pair<int64_t, int64_t>> spans;
  for (const Stream& stream : trace.streams) {
    if (stream.operations.size() == 0 || stream.device != device) continue;
    const size_t before = spans.size();
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
      const GpuOperation& operation = trace.operations[row];
      if (operation.end_ns <= operation.start_ns) continue;
      if (spans.size() > before && operation.start_ns <= spans.back().second) {
        spans.back().second = std::max(spans.back().second, operation.end_ns);
      } else {
        spans.emplace_back(operation.start_ns, operation.end_ns);
      }
    }
  }
  if (spans.empty()) return;
  std::sort(spans.begin(), spans.end());
  int64_t last_ns = spans.front().second;
  for (const auto& span : spans) last_ns = std::max(last_ns, span.second);
  const int64_t first_ns = spans.front().first;
  const int64_t width = bucket_width(last_ns - first_ns);
  std::vector<int64_t> busy(static_cast<size_t>((last_ns - first_ns) / width + 1));
  int64_t covered = first_ns;
  for (const auto& [begin, end] : spans) {
    for (int64_t at = std::max(begin, covered); at < end;) {
      const int64_t bucket = (at - first_ns) / width;
      const int64_t until = std::min(end, first_ns + (bucket + 1) * width);
      busy[static_cast<size_t>(bucket)] += until - at;
      at = until;
    }
    covered = std::max(covered, end);
  }
  CounterTrack track(context.events, context.ids.device[index(device)], "GPU busy", "%");
  int64_t shown = -1;
  for (size_t b = 0; b < busy.size(); ++b) {
    const int64_t begin = first_ns + static_cast<int64_t>(b) * width;
    const int64_t length = std::min(width, last_ns - begin);
    const int64_t per_mille = length > 0 ? (busy[b] * 1000 + length / 2) / length : 0;
    if (per_mille != shown && length > 0) {
      track.add(begin, [&](char* to) {
        to = put_decimal(to, static_cast<uint64_t>(per_mille / 10));
        *to++ = '.';
        *to++ = static_cast<char>('0' + per_mille % 10);
        return to;
      });
    }
    shown = length > 0 ? per_mille : shown;
  }
  track.count(last_ns, 0);
}

}  // namespace

void write_chrome_counters(const ChromeContext& context) {
  const Trace& trace = context.trace;
  for (uint32_t s = 0; s < trace.streams.size(); ++s) {
    if (trace.streams[s].operations.size() == 0) continue;
    queue_waiting(context, StreamId{s}, context.ids.device[index(trace.streams[s].device)]);
  }
  live_depth(context);
  for (uint32_t d = 0; d < trace.devices.size(); ++d) gpu_busy(context, DeviceId{d});
}

}  // namespace prof::analyzer
