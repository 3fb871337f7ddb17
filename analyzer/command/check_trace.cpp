#include "analyzer/command/check_trace.h"

#include "analyzer/base/json/json_text.h"
#include "analyzer/command/command.h"
#include "analyzer/command/progress.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <limits>

namespace prof::analyzer {

namespace {

// A fact of this name is what the file has and the model has not, and why.

using Json = rapidjson::Writer<rapidjson::StringBuffer>;

struct Holds {
  uint64_t calls = 0, launches = 0, ranges = 0, marks = 0, threads = 0, operations = 0;
};

struct Examined {
  std::vector<Holds> processes;  // by ProcessId
  std::vector<uint64_t> operations_of_device, streams_of_device;
  int64_t first_ns = 0, last_ns = 0;
  uint64_t damaged_places = 0, lost = 0, partial = 0;
  bool whole() const { return damaged_places == 0 && partial == 0; }
};

Examined examine(const Trace& trace) {
  Examined examined;
  examined.processes.resize(trace.processes.size());
  examined.operations_of_device.resize(trace.devices.size());
  examined.streams_of_device.resize(trace.devices.size());
  for (const Thread& thread : trace.threads) {
    Holds& holds = examined.processes[index(thread.process)];
    ++holds.threads;
    holds.calls += thread.host.size();
    holds.ranges += thread.ranges.size();
    holds.marks += thread.marks.size();
  }
  for (const Stream& stream : trace.streams) {
    const uint32_t device = index(stream.device);
    examined.processes[index(trace.devices[device].process)].operations += stream.operations.size();
    examined.operations_of_device[device] += stream.operations.size();
    ++examined.streams_of_device[device];
  }
  for (size_t p = 0; p < trace.processes.size(); ++p) {
    const Process& process = trace.processes[p];
    examined.processes[p].launches = process.coverage.launches;
    examined.processes[p].ranges += process.start_end_ranges.size();
    examined.last_ns = std::max(examined.last_ns, process.last_ns);
    examined.damaged_places += process.all_damage();
    examined.lost += process.damage_lost;
    examined.partial += process.partial.size();
  }
  return examined;
}

// "1.234567 s from 2026-11-21 20:25:27.123 UTC". The date is omitted if it cannot be valid.
std::string covers(const Trace& trace, const Examined& examined) {
  std::string text = fmt::format("{}.{:06} s", examined.last_ns / 1'000'000'000, examined.last_ns / 1000 % 1'000'000);
  constexpr uint64_t kSecondNs = 1'000'000'000, kYear2000 = 946'684'800 * kSecondNs;
  const uint64_t start = trace.start_realtime_ns;
  if (start > kYear2000 && start < uint64_t{std::numeric_limits<int64_t>::max()})
    text += fmt::format(" from {:%Y-%m-%d %H:%M:%S}.{:03} UTC",
                        fmt::gmtime(static_cast<std::time_t>(start / kSecondNs)), start % kSecondNs / 1'000'000);
  return text;
}

std::string verdict(const Examined& examined) {
  if (examined.whole()) return "whole";
  if (examined.damaged_places == 0) return "partial: not all of it can be read";
  std::string text =
      fmt::format("damaged in {} place{}", examined.damaged_places, examined.damaged_places == 1 ? "" : "s");
  if (examined.lost != 0) text += fmt::format(", {} event{} lost", examined.lost, examined.lost == 1 ? "" : "s");
  return text;
}

constexpr std::string_view kEvents = "events ";

void print_facts(const Process& process) {
  for (const auto& [key, value] : process.facts) {
    if (key == "events") fmt::print("  events     {}\n", value);
  }
  for (const auto& [key, value] : process.facts) {
    if (key.starts_with(kEvents)) fmt::print("    {:<20} {}\n", readable_utf8(key.substr(kEvents.size())), value);
  }
  for (const auto& [key, value] : process.facts) {
    if (key != "events" && key != "skipped" && key != "changed" && !key.starts_with(kEvents))
      fmt::print("  says       {} = {}\n", readable_utf8(key), readable_utf8(value));
  }
  for (const auto& [key, value] : process.facts) {
    if (key == "skipped" || key == "changed") fmt::print("  {}    {}\n", key, value);
  }
}

void print_text(const FileHead& head, const Importer& importer, const Trace& trace, const Examined& examined) {
  fmt::print("{}: {}{}\n", readable_utf8(head.path), importer.description,
             head.compressed ? fmt::format(", {}", head.compression) : "");
  fmt::print("  verdict    {}\n", verdict(examined));
  fmt::print("  covers     {}\n", covers(trace, examined));
  if (!trace.processes.empty()) print_facts(trace.processes.front());
  fmt::print("  processes  {}\n", trace.processes.size());
  for (size_t p = 0; p < trace.processes.size(); ++p) {
    const Process& process = trace.processes[p];
    const Holds& holds = examined.processes[p];
    fmt::print("    pid {:<8} {}: {} threads, {} calls ({} launches), {} ranges, {} marks, {} GPU operations\n",
               process.pid, readable_utf8(process.executable.empty() ? "(no name)" : process.executable), holds.threads,
               holds.calls, holds.launches, holds.ranges, holds.marks, holds.operations);
  }
  fmt::print("  devices    {}\n", trace.devices.size());
  for (size_t d = 0; d < trace.devices.size(); ++d) {
    const Device& device = trace.devices[d];
    fmt::print("    {} {} (pid {}): {} streams, {} operations\n", device.ordinal,
               readable_utf8(device.name.empty() ? "(no name)" : device.name),
               trace.processes[index(device.process)].pid, examined.streams_of_device[d],
               examined.operations_of_device[d]);
  }
  fmt::print("  joined     {}\n", coverage_line(trace));
  if (examined.partial != 0) fmt::print("  not read\n");
  for (const Process& process : trace.processes) {
    for (const std::string& each : process.partial) fmt::print("    {}\n", readable_utf8(each));
  }
  if (examined.damaged_places != 0) fmt::print("  damage\n");
  for (const Process& process : trace.processes) {
    for (const std::string& each : process.damage) fmt::print("    {}\n", readable_utf8(each));
    if (process.all_damage() > process.damage.size())
      fmt::print("    {} more places\n", process.all_damage() - process.damage.size());
  }
}

void put_member(Json& json, const char* key, uint64_t value) {
  json.Key(key);
  json.Uint64(value);
}
void put_member(Json& json, const char* key, std::string_view value) {
  json.Key(key);
  json.String(readable_utf8(value));
}

void put_json(Json& json, const Importer& importer, const Trace& trace, const Examined& examined) {
  put_member(json, "type", importer.name);
  put_member(json, "description", importer.description);
  json.Key("whole");
  json.Bool(examined.whole());
  put_member(json, "verdict", verdict(examined));
  put_member(json, "begin_realtime_ns", trace.start_realtime_ns);
  put_member(json, "covered_ns", static_cast<uint64_t>(std::max<int64_t>(examined.last_ns, 0)));
  json.Key("processes");
  json.StartArray();
  for (size_t p = 0; p < trace.processes.size(); ++p) {
    const Process& process = trace.processes[p];
    const Holds& holds = examined.processes[p];
    json.StartObject();
    put_member(json, "pid", uint64_t{process.pid});
    put_member(json, "executable", process.executable);
    put_member(json, "threads", holds.threads);
    put_member(json, "calls", holds.calls);
    put_member(json, "launches", holds.launches);
    put_member(json, "ranges", holds.ranges);
    put_member(json, "marks", holds.marks);
    put_member(json, "operations", holds.operations);
    put_member(json, "operations_linked", process.coverage.operations_linked);
    json.Key("facts");
    json.StartArray();
    for (const auto& [key, value] : process.facts) {
      json.StartArray();
      json.String(readable_utf8(key));
      json.String(readable_utf8(value));
      json.EndArray();
    }
    json.EndArray();
    json.Key("damage");
    json.StartArray();
    for (const std::string& each : process.damage) json.String(readable_utf8(each));
    json.EndArray();
    json.Key("partial");
    json.StartArray();
    for (const std::string& each : process.partial) json.String(readable_utf8(each));
    json.EndArray();
    put_member(json, "damaged_places", process.all_damage());
    put_member(json, "events_lost", process.damage_lost);
    json.EndObject();
  }
  json.EndArray();
  json.Key("devices");
  json.StartArray();
  for (size_t d = 0; d < trace.devices.size(); ++d) {
    json.StartObject();
    put_member(json, "ordinal", uint64_t{trace.devices[d].ordinal});
    put_member(json, "name", trace.devices[d].name);
    put_member(json, "pid", uint64_t{trace.processes[index(trace.devices[d].process)].pid});
    put_member(json, "streams", examined.streams_of_device[d]);
    put_member(json, "operations", examined.operations_of_device[d]);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

int check_trace(const FileHead& head, const Importer& importer, Json* json) {
  Trace trace;
  try {
    ProgressLine progress("reading");
    ImportOptions options;
    options.progress = [&](double share) { progress.share(share); };
    reading_file(head.path, [&] { importer.import(head, trace, options); });
  } catch (const InputError& error) {
    if (json == nullptr) {
      fmt::print("{}\n", readable_utf8(error.what()));
    } else {
      put_member(*json, "type", "unusable");
      json->Key("whole");
      json->Bool(false);
      put_member(*json, "verdict", error.what());
    }
    return kUnusable;
  }
  const Examined examined = examine(trace);
  if (json == nullptr) {
    print_text(head, importer, trace, examined);
  } else {
    put_json(*json, importer, trace, examined);
  }
  return examined.whole() ? kComplete : kPartial;
}

}  // namespace prof::analyzer
