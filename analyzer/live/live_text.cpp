#include "analyzer/live/live_text.h"

#include "analyzer/base/json/json_text.h"
#include "analyzer/model/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace prof::analyzer {

namespace {

constexpr std::string_view kNotKnown = "—";

std::string_view state_name(LiveState state) {
  switch (state) {
    case LiveState::Recording: return "recording";
    case LiveState::Finished: return "finished";
    case LiveState::Killed: break;
  }
  return "killed";
}

double seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }
double share(int64_t part, int64_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }
// Bytes in nanoseconds are gigabytes in seconds.
double gigabytes_per_second(const LiveCopies& copies) {
  return static_cast<double>(copies.bytes) / static_cast<double>(copies.total_ns);
}

std::string handle_text(const LiveStream& stream) {
  return stream.gpu_stream ? std::to_string(*stream.gpu_stream) : fmt::format("{:#x}", stream.handle);
}

std::string idle_text(const LiveIdleStack& idle) {
  constexpr size_t kShown = 4;  // frames
  std::string text = fmt::format("{} of {} samples, {}", idle.samples, idle.of, readable_utf8(idle.state));
  for (size_t i = 0; i < std::min(kShown, idle.frames.size()); ++i)
    text += (i == 0 ? "; " : " < ") + readable_utf8(idle.frames[i]);
  return text + (idle.frames.size() > kShown ? " < …" : "");
}

std::string text_of(const LiveSample& sample, size_t most) {
  std::string text = fmt::format("{} {}{}  {}{}  {}, {:.1f} MiB\n", sample.pid, readable_utf8(sample.executable),
                                 sample.host.empty() ? "" : " on " + readable_utf8(sample.host),
                                 state_name(sample.state), sample.ring ? ", ring" : "", readable_utf8(sample.path),
                                 static_cast<double>(sample.log_bytes) / 1048576);
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<12} {}\n", name, value);
  };
  const std::string none(kNotKnown);
  line("launches/s", sample.host_ns == 0
                         ? none
                         : fmt::format("{:.1f}", static_cast<double>(sample.launches) / seconds(sample.host_ns)));
  const std::string age = sample.gpu_age_ns ? fmt::format("{:.2f} s ago", seconds(*sample.gpu_age_ns)) : none;
  if (sample.devices.empty()) line("GPU busy", none);
  for (const LiveDevice& device : sample.devices)
    line("GPU busy",
         fmt::format("{:.1f} %  GPU {} {}, up to the last flush {}", 100 * share(device.busy_ns, sample.gpu_ns),
                     device.ordinal, readable_utf8(device.name), age));
  const auto rows = [&](size_t size) { return most == 0 ? size : std::min(most, size); };
  if (sample.kernels.empty()) line("kernels", none);
  for (size_t i = 0; i < rows(sample.kernels.size()); ++i) {
    const LiveKernel& kernel = sample.kernels[i];
    line(i == 0 ? "kernels" : "", fmt::format("{:8.3f} ms {:7}  {}", static_cast<double>(kernel.total_ns) / 1e6,
                                              kernel.count, readable_utf8(short_function_name(kernel.name))));
  }
  if (sample.copies.empty()) line("copies", none);
  for (const LiveCopies& copies : sample.copies)
    line("copies", fmt::format("{} {} GB/s, {} of {} bytes", copies.direction,
                               copies.total_ns == 0 ? none : fmt::format("{:.3f}", gigabytes_per_second(copies)),
                               copies.count, copies.bytes));
  if (sample.streams.empty()) line("queue depth", none);
  for (size_t i = 0; i < rows(sample.streams.size()); ++i)
    line("queue depth", fmt::format("{} in stream {}", sample.streams[i].depth, handle_text(sample.streams[i])));
  line("idle stack", sample.idle_stack ? idle_text(*sample.idle_stack) : none);
  line("memory",
       sample.memory_bytes ? fmt::format("{:.1f} MiB", static_cast<double>(*sample.memory_bytes) / 1048576) : none);
  std::string health;
  for (const LiveSample::Counter& counter : sample.lost)
    health += fmt::format("{}{} {}", health.empty() ? "" : ", ", counter.name, counter.value);
  if (sample.damaged_blocks != 0)
    health += fmt::format("{}damaged blocks {}", health.empty() ? "" : ", ", sample.damaged_blocks);
  line("lost", health.empty() ? "nothing" : health);
  return text;
}

template <class T> std::string or_null(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "null";
}

template <class Rows, class Write> std::string array_of(const Rows& rows, const Write& write) {
  std::string text = "[";
  for (const auto& row : rows) text += fmt::format("{}{}", text.size() == 1 ? "" : ",", write(row));
  return text + "]";
}

std::string json_of(const LiveSample& sample) {
  std::string text =
      fmt::format("{{\"pid\":{},\"executable\":{},\"host\":{},\"log\":{},\"log_bytes\":{},\"state\":\"{}\",\"ring\":{}",
                  sample.pid, json_string(sample.executable), json_string(sample.host), json_string(sample.path),
                  sample.log_bytes, state_name(sample.state), sample.ring);
  const bool host = sample.host_ns != 0, gpu = sample.gpu_ns != 0;
  text +=
      fmt::format(",\"window_ns\":{},\"launches\":{},\"launches_per_second\":{}",
                  host ? std::to_string(sample.host_ns) : "null", host ? std::to_string(sample.launches) : "null",
                  host ? fmt::format("{}", static_cast<double>(sample.launches) / seconds(sample.host_ns)) : "null");
  text += fmt::format(",\"gpu_window_ns\":{},\"gpu_age_ns\":{}", gpu ? std::to_string(sample.gpu_ns) : "null",
                      or_null(sample.gpu_age_ns));
  text += ",\"devices\":" + array_of(sample.devices, [&](const LiveDevice& device) {
            return fmt::format("{{\"device\":{},\"name\":{},\"busy_ns\":{},\"busy\":{}}}", device.ordinal,
                               json_string(device.name), device.busy_ns, share(device.busy_ns, sample.gpu_ns));
          });
  text += ",\"kernels\":" + array_of(sample.kernels, [](const LiveKernel& kernel) {
            return fmt::format("{{\"name\":{},\"count\":{},\"total_ns\":{}}}", json_string(kernel.name), kernel.count,
                               kernel.total_ns);
          });
  text += ",\"copies\":" + array_of(sample.copies, [](const LiveCopies& copies) {
            return fmt::format("{{\"direction\":\"{}\",\"count\":{},\"bytes\":{},\"total_ns\":{},\"gb_per_s\":{}}}",
                               copies.direction, copies.count, copies.bytes, copies.total_ns,
                               copies.total_ns == 0 ? "null" : fmt::format("{}", gigabytes_per_second(copies)));
          });
  text += ",\"streams\":" + array_of(sample.streams, [](const LiveStream& stream) {
            return fmt::format("{{\"id\":{},\"handle\":{},\"gpu_stream\":{},\"depth\":{}}}", stream.id, stream.handle,
                               or_null(stream.gpu_stream), stream.depth);
          });
  text += ",\"idle_stack\":";
  if (const std::optional<LiveIdleStack>& idle = sample.idle_stack) {
    text += fmt::format("{{\"samples\":{},\"of\":{},\"state\":{},\"frames\":{}}}", idle->samples, idle->of,
                        json_string(idle->state),
                        array_of(idle->frames, [](const std::string& frame) { return json_string(frame); }));
  } else {
    text += "null";
  }
  text += ",\"memory_bytes\":" + or_null(sample.memory_bytes);
  text += ",\"lost\":" + array_of(sample.lost, [](const LiveSample::Counter& counter) {
            return fmt::format("{{\"counter\":{},\"value\":{}}}", json_string(counter.name), counter.value);
          });
  return text + fmt::format(",\"damaged_blocks\":{}}}", sample.damaged_blocks);
}

std::string label_text(std::string_view text) {
  std::string escaped;
  for (const char c : readable_utf8(text)) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

using Labels = std::string;

// One metric with the values of all samples. A metric without a value is left out.
class Metric {
 public:
  Metric(std::string_view name, std::string_view unit, std::string_view help) {
    head_ = fmt::format("# TYPE {} gauge\n", name);
    if (!unit.empty()) head_ += fmt::format("# UNIT {} {}\n", name, unit);
    head_ += fmt::format("# HELP {} {}\n", name, help);
    name_ = name;
  }
  template <class T> void add(const Labels& labels, const T& value) {
    values_ += fmt::format("{}{{{}}} {}\n", name_, labels, value);
  }
  std::string text() const { return values_.empty() ? "" : head_ + values_; }

 private:
  std::string name_, head_, values_;
};

}  // namespace

std::string live_text(std::span<const LiveSample> samples, size_t most) {
  std::string text;
  for (const LiveSample& sample : samples) text += text_of(sample, most);
  return text;
}

std::string live_json(std::span<const LiveSample> samples) {
  return "{\"schema_version\":1,\"processes\":" + array_of(samples, json_of) + "}\n";
}

std::string live_openmetrics(std::span<const LiveSample> samples) {
  Metric launches("prof_launches_per_second", "", "Kernel, copy, memset and graph launches.");
  Metric busy("prof_gpu_busy_ratio", "ratio", "Time in which the GPU ran anything, up to the last flush.");
  Metric age("prof_gpu_age_seconds", "seconds", "Time since the last GPU operation that was recorded.");
  Metric kernels("prof_kernel_busy_seconds", "seconds", "GPU time of a kernel in the window.");
  Metric copied("prof_copy_rate_bytes_per_second", "", "Bytes of copies in the time in which they ran.");
  Metric depth("prof_queue_depth", "", "Outstanding operations of a stream after its latest launch.");
  Metric memory("prof_memory_bytes", "bytes", "Device memory that is allocated.");
  Metric lost("prof_lost_records", "", "Loss counters that are not 0.");
  Metric recording("prof_recording", "", "1: the log is being written.");
  constexpr size_t kMostKernels = 20;  // a time series each
  for (const LiveSample& sample : samples) {
    const Labels process = fmt::format("pid=\"{}\",executable=\"{}\"", sample.pid, label_text(sample.executable));
    const auto with = [&](std::string_view name, std::string_view value) {
      return fmt::format("{},{}=\"{}\"", process, name, label_text(value));
    };
    recording.add(process, sample.state == LiveState::Recording ? 1 : 0);
    if (sample.host_ns != 0) launches.add(process, static_cast<double>(sample.launches) / seconds(sample.host_ns));
    for (const LiveDevice& device : sample.devices)
      busy.add(with("device", std::to_string(device.ordinal)), share(device.busy_ns, sample.gpu_ns));
    if (sample.gpu_age_ns) age.add(process, seconds(*sample.gpu_age_ns));
    for (size_t i = 0; i < std::min(kMostKernels, sample.kernels.size()); ++i)
      kernels.add(with("kernel", sample.kernels[i].name), seconds(sample.kernels[i].total_ns));
    for (const LiveCopies& copies : sample.copies) {
      if (copies.total_ns != 0) copied.add(with("direction", copies.direction), 1e9 * gigabytes_per_second(copies));
    }
    for (const LiveStream& stream : sample.streams)
      depth.add(with("stream", handle_text(stream)) + fmt::format(",id=\"{}\"", stream.id), stream.depth);
    if (sample.memory_bytes) memory.add(process, *sample.memory_bytes);
    for (const LiveSample::Counter& counter : sample.lost) lost.add(with("counter", counter.name), counter.value);
  }
  std::string text;
  for (const Metric* const metric : {&recording, &launches, &busy, &age, &kernels, &copied, &depth, &memory, &lost})
    text += metric->text();
  return text + "# EOF\n";
}

}  // namespace prof::analyzer
