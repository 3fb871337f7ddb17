#include "analyzer/output/chrome_trace.h"

#include "analyzer/output/chrome_writer.h"

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <set>

namespace prof::analyzer {

namespace {

using JsonWriter = rapidjson::Writer<rapidjson::StringBuffer>;

void put_string(JsonWriter& writer, std::string_view text) {
  const std::string readable = readable_utf8(text);
  writer.String(readable.data(), static_cast<rapidjson::SizeType>(readable.size()));
}

void put_device(JsonWriter& writer, uint64_t id, const Device& device) {
  writer.StartObject();
  writer.Key("id");
  writer.Uint64(id);
  writer.Key("name");
  put_string(writer, device.name);
  for (const auto& [key, value] : device.properties) {
    if (key == "id" || key == "name") continue;
    put_string(writer, key);
    writer.Uint64(value);
  }
  writer.EndObject();
}

// The first value any process knows; a number where it is one.
void put_fact(JsonWriter& writer, const Trace& trace, const char* key, std::string_view fact) {
  for (const Process& process : trace.processes) {
    const std::string value = process.fact(fact);
    if (value.empty()) continue;
    writer.Key(key);
    const bool number = value.size() < 10 && value.find_first_not_of("0123456789") == std::string::npos;
    if (number) {
      writer.Uint64(std::stoull(value));
    } else {
      put_string(writer, value);
    }
    return;
  }
}

// Everything before the events, without the object's end.
std::string header(const Trace& trace, const ChromeIds& ids) {
  rapidjson::StringBuffer buffer;
  JsonWriter writer(buffer);
  writer.StartObject();
  writer.Key("schemaVersion");
  writer.Int(1);
  writer.Key("deviceProperties");
  writer.StartArray();
  std::set<uint32_t> written;
  for (size_t d = 0; d < trace.devices.size(); ++d) {
    if (written.insert(trace.devices[d].physical).second) put_device(writer, ids.device[d], trace.devices[d]);
  }
  writer.EndArray();
  put_fact(writer, trace, "cupti_version", "cupti_version");
  put_fact(writer, trace, "cuda_runtime_version", "cuda_runtime_version");
  put_fact(writer, trace, "cuda_driver_version", "driver_version");
  writer.Key("displayTimeUnit");
  writer.String("ms");
  writer.Key("baseTimeNanoseconds");
  writer.Uint64(trace.start_realtime_ns);
  writer.Key("coverage");
  put_string(writer, coverage_line(trace));
  writer.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize() - 1);
}

}  // namespace

std::string track_piece(uint64_t pid, uint64_t tid) { return fmt::format("\"pid\":{},\"tid\":{},\"ts\":", pid, tid); }

ChromeTraceResult write_chrome_trace(const Trace& trace, const KernelNames& names, const QueueDepth& depth,
                                     const ChromeTraceOptions& options, Sink& sink) {
  const ChromeIds ids(trace);
  EventList events(sink);
  const ChromeContext context{trace, names, depth, options, ids, events};
  sink.write(header(trace, ids));
  sink.write(",\"traceEvents\":[");
  write_chrome_metadata(context);
  write_chrome_host(context);
  write_chrome_nvtx(context);
  write_chrome_gpu(context);
  if (!options.plain) write_chrome_counters(context);
  sink.write(fmt::format("\n],\"traceName\":{}}}\n", json_string(options.name)));
  return {events.events()};
}

void write_chrome_metadata(const ChromeContext& context) {
  const auto meta = [&](const char* name, uint64_t pid, uint64_t tid, const std::string& args) {
    context.events.add(fmt::format(
        "{{\"name\":\"{}\",\"ph\":\"M\",\"ts\":0.000,\"pid\":{},\"tid\":{},\"args\":{{{}}}}}", name, pid, tid, args));
  };
  const auto process_rows = [&](uint64_t pid, std::string_view name, const std::string& label, size_t sort) {
    meta("process_name", pid, 0, "\"name\":" + json_string(name));
    meta("process_labels", pid, 0, "\"labels\":" + json_string(label));
    meta("process_sort_index", pid, 0, fmt::format("\"sort_index\":{}", sort));
  };
  const auto thread_rows = [&](uint64_t pid, uint64_t tid, const std::string& name, size_t sort) {
    meta("thread_name", pid, tid, "\"name\":" + json_string(name));
    meta("thread_sort_index", pid, tid, fmt::format("\"sort_index\":{}", sort));
  };
  constexpr size_t kProcessStep = 1000;  // a process, then its GPUs
  const Trace& trace = context.trace;
  const ChromeIds& ids = context.ids;
  for (size_t p = 0; p < trace.processes.size(); ++p) {
    const Process& process = trace.processes[p];
    process_rows(ids.process[p], process.executable, "CPU", p * kProcessStep);
    for (size_t t = 0; t < trace.threads.size(); ++t) {
      const Thread& thread = trace.threads[t];
      if (index(thread.process) != p) continue;
      if (thread.host.size() + thread.ranges.size() + thread.marks.size() == 0) continue;
      thread_rows(ids.process[p], ids.thread[t], fmt::format("thread {} ({})", thread.tid, thread.name), t);
    }
    for (size_t d = 0; d < trace.devices.size(); ++d) {
      const Device& device = trace.devices[d];
      if (index(device.process) != p) continue;
      // Perfetto shows no labels, so the GPU is in the name too.
      const std::string label = fmt::format("GPU {}", device.ordinal);
      process_rows(ids.device[d], fmt::format("{} ({} {})", label, process.executable, process.pid), label,
                   p * kProcessStep + 1 + device.ordinal);
      for (size_t s = 0; s < trace.streams.size(); ++s) {
        if (index(trace.streams[s].device) != d) continue;
        for (size_t lane = 0; lane < ids.lanes[s].size(); ++lane) {
          const std::string name =
              lane == 0 ? ids.stream_names[s] + " " : fmt::format("{} overlap {} ", ids.stream_names[s], lane);
          thread_rows(ids.device[d], ids.lanes[s][lane], name,
                      uint64_t{trace.streams[s].number} * 16 + std::min<size_t>(lane, 15));
        }
      }
    }
  }
}

}  // namespace prof::analyzer
