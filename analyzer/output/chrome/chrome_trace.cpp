#include "analyzer/output/chrome/chrome_trace.h"

#include "analyzer/input/importer.h"
#include "analyzer/output/chrome/chrome_copy.h"
#include "analyzer/output/chrome/chrome_writer.h"
#include "analyzer/output/chrome/copied_events.h"

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <map>
#include <optional>
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

// Writes the first value that any process has, as a number if it is one. Returns false if no process has a value.
bool put_fact(JsonWriter& writer, const Trace& trace, const char* key, std::string_view fact) {
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
    return true;
  }
  return false;
}

// A runtime that is linked into the program does not report its version. It requested driver functions of versions up
// to its own, so the highest one is a lower bound.
void put_toolkit(JsonWriter& writer, const Trace& trace) {
  if (put_fact(writer, trace, "cuda_runtime_version", "cuda_runtime_version")) return;
  if (!put_fact(writer, trace, "cuda_toolkit_at_least", "cuda_toolkit_at_least")) return;
  writer.Key("cuda_runtime_version");
  writer.String("unknown (static)");
}

// Everything that precedes the events, without the closing brace of the object.
std::string header(const Trace& trace, const ChromeIds& ids) {
  rapidjson::StringBuffer buffer;
  JsonWriter writer(buffer);
  writer.StartObject();
  writer.Key("schemaVersion");
  writer.Int(1);
  writer.Key("deviceProperties");
  writer.StartArray();
  for (size_t d = 0; d < trace.devices.size(); ++d) {
    if (trace.devices[d].physical == d) put_device(writer, ids.device[d], trace.devices[d]);
  }
  writer.EndArray();
  put_fact(writer, trace, "cupti_version", "cupti_version");
  put_toolkit(writer, trace);
  put_fact(writer, trace, "cuda_driver_version", "driver_version");
  put_fact(writer, trace, "cpu_model", "cpu_model");
  put_fact(writer, trace, "cpu_count", "cpu_count");
  if (trace.processes.size() == 1 && trace.processes[0].rank_from == RankFrom::Recorded) {
    writer.Key("distributedInfo");
    writer.StartObject();
    put_fact(writer, trace, "rank", "rank");
    put_fact(writer, trace, "world_size", "world_size");
    writer.EndObject();
  }
  writer.Key("displayTimeUnit");
  writer.String("ms");
  writer.Key("baseTimeNanoseconds");
  writer.Uint64(trace.start_realtime_ns);
  writer.Key("coverage");
  put_string(writer, coverage_line(trace));
  writer.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize() - 1);
}

// An input that is itself a Chrome trace.
struct CopiedFile {
  std::string path;
  Rows processes;
};

std::vector<CopiedFile> files_to_copy(const Trace& trace, const std::vector<std::string>& inputs) {
  std::vector<CopiedFile> files;
  for (size_t i = 0; i < inputs.size(); ++i) {
    CopiedFile file{inputs[i], {}};
    for (uint32_t p = 0; p < trace.processes.size(); ++p) {
      const Process& process = trace.processes[p];
      if (process.source != file.path || process.format != importer_of(InputFormat::kineto_json).name) continue;
      if (file.processes.size() == 0) file.processes.first = p;
      file.processes.last = p + 1;
    }
    if (file.processes.size() == 0) continue;
    // If a file is an input several times, each time created equally many rows of processes.
    const auto times = static_cast<uint32_t>(std::count(inputs.begin(), inputs.end(), file.path));
    const auto before =
        static_cast<uint32_t>(std::count(inputs.begin(), inputs.begin() + static_cast<long>(i), file.path));
    const uint32_t each = file.processes.size() / times;
    file.processes.first += before * each;
    file.processes.last = file.processes.first + each;
    files.push_back(std::move(file));
  }
  return files;
}

void add_counts(ChromeCopyCounts& sum, const ChromeCopyCounts& one) {
  sum.events += one.events;
  sum.augmented += one.augmented;
  sum.unmatched += one.unmatched;
  sum.repaired += one.repaired;
  sum.damaged += one.damaged;
  sum.damage.insert(sum.damage.end(), one.damage.begin(), one.damage.end());
}

void note_copy(const ChromeCopy& copy, Rows processes, ChromeContext& context) {
  for (size_t d = 0; d < context.device_pids.size(); ++d) {
    if (!copy.device_pids()[d].empty()) context.device_pids[d] = copy.device_pids()[d];
  }
  for (uint32_t p = processes.first; p < processes.last; ++p) context.counters[p] = copy.counters();
}

std::string unescaped(std::string_view name) {
  rapidjson::Document text;
  text.Parse(fmt::format("\"{}\"", name));
  return text.IsString() ? std::string(text.GetString(), text.GetStringLength()) : std::string(name);
}

// The names of the members of an object whose closing brace is missing.
std::set<std::string> member_names(const std::string& open_object) {
  rapidjson::Document object;
  object.Parse(open_object + "}");
  std::set<std::string> names;
  for (auto member = object.MemberBegin(); member != object.MemberEnd(); ++member)
    names.emplace(member->name.GetString(), member->name.GetStringLength());
  return names;
}

// The members of the outer objects of merged files. Members that are equal in all files are at the end of our object.
// The others are below "inputs".
std::string merged_members(
    const std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>>& files,
    const std::string& header) {
  const std::set<std::string> ours = member_names(header);
  std::map<std::string, std::set<std::string>> values;
  for (const auto& [path, members] : files) {
    for (const auto& [name, value] : members) values[name].insert(value);
  }
  std::string common, different;
  std::set<std::string> written;
  for (const auto& [path, members] : files) {
    std::string own;
    for (const auto& [name, value] : members) {
      if (name == "traceName" || name == "deviceProperties" || name == "traceEvents") continue;
      if (values[name].size() > 1 || ours.contains(unescaped(name))) {
        own += fmt::format(",\"{}\":{}", name, value);
      } else if (written.insert(name).second) {
        common += fmt::format(",\"{}\":{}", name, value);
      }
    }
    different += fmt::format("{}{{\"file\":{}{}}}", different.empty() ? "" : ",", json_string(path), own);
  }
  return common + (different.empty() ? "" : ",\"inputs\":[" + different + "]");
}

// What files contain is not written from the model.
void omit_copied(const std::vector<CopiedFile>& files, ChromeContext& context) {
  for (const CopiedFile& file : files) {
    for (uint32_t p = file.processes.first; p < file.processes.last; ++p) context.copied[p] = true;
  }
}

ChromePids taken_pids(const ChromeContext& context) {
  ChromePids pids;
  for (uint32_t p = 0; p < context.trace.processes.size(); ++p) {
    if (context.writes(ProcessId{p})) pids.take(context.ids.process[p]);
  }
  for (uint32_t d = 0; d < context.trace.devices.size(); ++d) {
    if (context.writes(DeviceId{d})) pids.take(context.ids.device[d]);
  }
  return pids;
}

void write_additional_events(const ChromeContext& context) {
  if (context.augment == nullptr) return;
  context.arrows->write(context.events, context.offset_ns);
  write_chrome_counters(context);
}

// Writes one trace of another tool with its own text.
void write_copy(ChromeContext& context, ChromeText& text, Rows processes, ChromeCopyCounts& counts) {
  ChromeCopy copy(context.trace, processes, context.events, context.augment, context.arrows);
  copy.select(context.selection);
  copy.whole(text, context.events.sink(), context.events, [&](const ChromeCopy& so_far) {
    note_copy(so_far, processes, context);
    context.offset_ns = so_far.offset_ns();
    write_additional_events(context);
  });
  counts = copy.counts();
}

// Writes everything on the model's time line.
void write_merged(ChromeContext& context, const std::vector<CopiedFile>& files, const ChromeTraceOptions& options,
                  ChromeCopyCounts& counts) {
  Sink& sink = context.events.sink();
  const std::string head = header(context.trace, context.ids);
  sink.write(head);
  sink.write(",\"traceEvents\":[");
  write_chrome_metadata(context);
  write_chrome_host(context);
  write_chrome_host_samples(context);
  write_chrome_ranges(context);
  write_program_counters(context);
  write_chrome_forward_backward(context);
  write_chrome_memory(context);
  if (context.augment != nullptr) {
    write_chrome_annotations(context);
    write_chrome_syncs(context);
  }
  write_chrome_gpu(context);
  write_chrome_counter_ranges(context);
  ChromePids pids = taken_pids(context);
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>> members;
  for (size_t i = 0; i < files.size(); ++i) {
    ChromeCopy copy(context.trace, files[i].processes, context.events, context.augment, context.arrows);
    copy.select(context.selection);
    ChromeText text(files[i].path);
    copy.events_of(text, i + 1, pids, context.events);
    note_copy(copy, files[i].processes, context);
    members.emplace_back(files[i].path, copy.members());
    add_counts(counts, copy.counts());
  }
  write_additional_events(context);
  sink.write("\n]");
  if (context.stacks != nullptr) context.stacks->write_table(sink);
  sink.write(fmt::format("{},\"traceName\":{}}}\n", merged_members(members, head), json_string(options.name)));
}

// A context together with the objects to which it refers.
struct OneTrace {
  OneTrace(const Trace& trace, const Views& views, const ChromeTraceOptions& options, Sink& sink, TraceForm form)
      : ids(trace), events(sink, form), context{trace,   views, ids, events, nullptr, nullptr,
                                                nullptr, {},    {},  {},     0,       nullptr} {
    if (!options.plain) {
      augment.emplace(trace, views, events, options.fx);
      arrows.emplace(trace, augment->bounds(), augment->gpu_known() ? options.arrows : ArrowKinds::None);
      context.augment = &*augment;
      context.arrows = &*arrows;
      if (options.stacks != ChromeStackForm::None && !trace.stacks.empty())
        context.stacks = &stacks.emplace(trace, views, options.stacks);
    }
    context.copied.resize(trace.processes.size());
    context.selection = options.selection;
    for (uint32_t p = 0; context.selection != nullptr && p < trace.processes.size(); ++p)
      context.copied[p] = !context.selection->has_process(ProcessId{p});
    context.counters.resize(trace.processes.size());
    for (const uint64_t pid : ids.device) context.device_pids.push_back(fmt::format("{}", pid));
  }
  const ChromeIds ids;
  EventList events;
  std::optional<Augment> augment;
  std::optional<ChromeArrows> arrows;
  std::optional<ChromeStacks> stacks;
  SliceFlowTable flows;
  ChromeContext context;
};

}  // namespace

ChromeTraceResult copy_chrome_trace(const Trace& trace, const Views& views, ChromeText& text,
                                    const ChromeTraceOptions& options, Sink& sink) {
  OneTrace one(trace, views, options, sink, TraceForm::Json);
  ChromeTraceResult result;
  write_copy(one.context, text, {0, static_cast<uint32_t>(trace.processes.size())}, result.copied);
  result.events = one.events.events();
  return result;
}

ChromeTraceResult write_chrome_trace(const Trace& trace, const Views& views, const ChromeTraceOptions& options,
                                     Sink& sink) {
  const std::vector<CopiedFile> files = files_to_copy(trace, options.inputs);
  if (options.inputs.size() == 1 && files.size() == 1) {
    ChromeText text(files.front().path);
    return copy_chrome_trace(trace, views, text, options, sink);
  }
  OneTrace one(trace, views, options, sink, TraceForm::Json);
  omit_copied(files, one.context);
  ChromeTraceResult result;
  write_merged(one.context, files, options, result.copied);
  result.events = one.events.events();
  return result;
}

namespace {

// `opened`: the only file to copy, or null. A single file keeps its ids and times.
ChromeTraceResult write_packets(const Trace& trace, const Views& views, const std::vector<CopiedFile>& files,
                                bool only_one, ChromeText* opened, const ChromeTraceOptions& options, Sink& sink) {
  OneTrace one(trace, views, options, sink, TraceForm::Perfetto);
  ChromeContext& context = one.context;
  omit_copied(files, context);
  add_forward_backward(context, one.flows);
  if (context.arrows != nullptr) context.arrows->add_to(one.flows, context);
  context.flows = &one.flows;
  write_chrome_metadata(context);
  write_tracks_in_order(context);
  write_chrome_host_samples(context);
  write_chrome_ranges(context);
  write_program_counters(context);
  write_chrome_forward_backward(context);
  write_chrome_memory(context);
  if (context.augment != nullptr) write_chrome_syncs(context);
  write_chrome_counter_ranges(context);
  ChromeTraceResult result;
  CopiedEvents copied(one.events);
  one.events.set_copied(&copied);
  ChromePids pids = taken_pids(context);
  for (size_t i = 0; i < files.size(); ++i) {
    ChromeCopy copy(trace, files[i].processes, one.events, context.augment, context.arrows);
    copy.select(context.selection);
    std::optional<ChromeText> text;
    if (opened == nullptr) text.emplace(files[i].path);
    copy.packets_of(opened == nullptr ? *text : *opened, i + 1, only_one ? nullptr : &pids, copied);
    note_copy(copy, files[i].processes, context);
    add_counts(result.copied, copy.counts());
    if (only_one) context.offset_ns = copy.offset_ns();
  }
  copied.name_processes();
  write_additional_events(context);
  copied.write();
  if (options.render_stages) write_render_stages(context);
  one.events.finish();
  result.events = one.events.events() + result.copied.events;
  return result;
}

}  // namespace

ChromeTraceResult write_perfetto_trace(const Trace& trace, const Views& views, const ChromeTraceOptions& options,
                                       Sink& sink) {
  const std::vector<CopiedFile> files = files_to_copy(trace, options.inputs);
  return write_packets(trace, views, files, options.inputs.size() == 1 && files.size() == 1, nullptr, options, sink);
}

ChromeTraceResult copy_as_perfetto_trace(const Trace& trace, const Views& views, ChromeText& text,
                                         const ChromeTraceOptions& options, Sink& sink) {
  return write_packets(trace, views, {{"", {0, static_cast<uint32_t>(trace.processes.size())}}}, true, &text, options,
                       sink);
}

}  // namespace prof::analyzer
