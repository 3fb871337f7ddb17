// prof check: what is this file, is it complete, and what was every thread doing when it ended?
#include "analyzer/base/input_error.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/command/check_trace.h"
#include "analyzer/command/choices.h"
#include "analyzer/command/command.h"
#include "analyzer/command/input_list.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/progress.h"
#include "analyzer/input/import.h"
#include "analyzer/input/log/log_health.h"
#include "analyzer/input/log/log_text.h"
#include "analyzer/model/coverage_gaps.h"
#include "analyzer/model/trace.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <memory>
#include <stdexcept>

namespace prof::analyzer {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;

std::string printable(std::string_view text) {  // names of programs and threads may contain any bytes
  std::string out;
  append_quoted(out, text);
  return out.substr(1, out.size() - 2);
}

std::string seconds(uint64_t ns) { return fmt::format("{}.{:06} s", ns / kSecond, ns % kSecond / 1000); }

std::string date(uint64_t realtime_ns) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03} UTC", fmt::gmtime(static_cast<std::time_t>(realtime_ns / kSecond)),
                     realtime_ns % kSecond / 1'000'000);
}

std::string_view state_text(LogState state) {
  switch (state) {
    case LogState::Closed: return "closed in order";
    case LogState::Killed: return "not closed: the program was killed, crashed or left by _exit";
    case LogState::StillWritten: return "still being written: its process is alive";
  }
  return "";
}

uint64_t realtime(const LogHealth& health, uint64_t ns) {
  return ns + static_cast<uint64_t>(health.realtime_offset_ns);
}

// What only the model of the log shows: launches and GPU operations that do not find each other.
struct ModelHealth {
  CoverageGaps gaps;
  std::string coverage;  // the coverage line of reports; empty: there is no model
};

ModelHealth examine_model(const std::string& path, const LogHealth& health) {
  ModelHealth model;
  try {
    const std::unique_ptr<Trace> trace = read_trace({path});
    for (const Process& process : trace->processes) {
      CoverageGaps gaps = coverage_gaps(process);
      std::move(gaps.missing.begin(), gaps.missing.end(), std::back_inserter(model.gaps.missing));
      std::move(gaps.later.begin(), gaps.later.end(), std::back_inserter(model.gaps.later));
      std::move(gaps.less_exact.begin(), gaps.less_exact.end(), std::back_inserter(model.gaps.less_exact));
    }
    model.coverage = coverage_line(*trace);
  } catch (const InputError& error) {
    // A log that is still being written may have changed between its two readings.
    if (health.state != LogState::StillWritten) model.gaps.missing.push_back(error.what());
  }
  return model;
}

bool whole(const LogHealth& health, const ModelHealth& model) { return health.whole() && model.gaps.missing.empty(); }

std::string verdict(const LogHealth& health, const ModelHealth& model) {
  std::string out = whole(health, model) ? "whole" : "";
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : "; ") + part; };
  const auto list = [&](std::string_view word, const std::vector<std::string>& parts) {
    if (!parts.empty()) add(fmt::format("{}: {}", word, fmt::join(parts, ", ")));
  };
  if (!health.damage.empty()) {
    add(fmt::format("damaged in {} place{}, at most {} bytes of records lost", health.damage.size(),
                    health.damage.size() == 1 ? "" : "s", health.bytes_lost));
  }
  if (health.state == LogState::Killed) add("what came after the last record is missing");
  if (health.state == LogState::StillWritten) add("more will come");
  size_t losses = 0;
  for (const CounterHealth& counter : health.counters) losses += counter.severity == format::Severity::Loss ? 1 : 0;
  if (losses != 0) add("records were lost while recording, see the counters");
  list("partial", model.gaps.missing);
  list("not in this copy yet", model.gaps.later);
  list("less exact", model.gaps.less_exact);
  return out;
}

std::string ring_text(const LogFile& log, const LogHealth& health) {
  const format::RingWords& ring = log.counter_page().ring;
  std::string out = ring.bytes == ~uint64_t{0} ? "the last seconds of the run"
                                               : fmt::format("the last {} bytes of events", ring.bytes);
  if (!health.horizon_ns) return out + "; nothing has been overwritten";
  const uint64_t since = *health.horizon_ns > health.begin_ns ? *health.horizon_ns - health.begin_ns : 0;
  return out + fmt::format("; overwritten on purpose: {} records in {} blocks; complete from {} of the log on, {}",
                           ring.records, ring.blocks, seconds(since), date(realtime(health, *health.horizon_ns)));
}

void print_text(const LogFile& log, const LogHealth& health, const ModelHealth& model) {
  const format::FileHeader& header = log.header();
  const LogDefinitions& definitions = health.definitions;
  fmt::print(
      "{}: prof log, version {}, {} bytes{}\n", printable(log.path()), header.version, log.file_bytes(),
      log.compressed() ? fmt::format(" ({}; {} inside)", compression_name(log.compression()), log.log_bytes()) : "");
  fmt::print("  verdict    {}\n", printable(verdict(health, model)));
  fmt::print("  program    {} (pid {}{}{})\n", printable(definitions.shown_command_line()), header.pid,
             definitions.meta_value("host").empty() ? "" : " on ", printable(definitions.meta_value("host")));
  fmt::print("  recorder   libprof {}, clock {}, {}\n", printable(definitions.meta_value("libprof")),
             header.clock == format::ClockSource::Tsc     ? "the processor's counter"
             : header.clock == format::ClockSource::Named ? "of the program"
                                                          : "CLOCK_MONOTONIC",
             header.backing == format::Backing::Mapped ? "mapped file" : "written once a second");
  fmt::print("  state      {}\n",
             log.counter_page().ring.copied_ns != 0 ? "a copy; its recording went on" : state_text(health.state));
  fmt::print("  covers     {} from {}\n", seconds(health.end_ns - health.begin_ns),
             date(realtime(health, health.begin_ns)));
  fmt::print("  blocks     {} used, {} unused\n", log.blocks().size(), log.unused_blocks());
  if (log.is_ring()) fmt::print("  ring       {}\n", ring_text(log, health));
  fmt::print("  launches   {}{}\n", health.launches,
             health.launches == 0
                 ? ""
                 : fmt::format(", {:.1f} bytes of file each",
                               static_cast<double>(log.log_bytes()) / static_cast<double>(health.launches)));
  if (!model.coverage.empty()) fmt::print("  {}\n", printable(model.coverage));
  if (log.counter_page().gpu_pending != 0) {
    fmt::print("  pending    {} launches had no GPU record yet at the last flush\n", log.counter_page().gpu_pending);
  }
  fmt::print(
      "  records    {}{}\n", health.records,
      health.unknown_records == 0 ? "" : fmt::format(", {} of kinds this prof does not know", health.unknown_records));
  for (const auto& [kind, records] : health.records_by_kind) {
    fmt::print("    {:<16} {}\n", log.kinds().find(kind)->name, records);
  }
  fmt::print("  threads    {}\n", health.threads.size());
  for (const ThreadHealth& thread : health.threads) {
    std::string end = "ended in order";
    if (!thread.ended)
      end = health.state == LogState::Closed ? "alive when the log was closed" : "alive at the last record";
    if (!thread.in_call.empty()) {
      const uint64_t since = thread.in_call_since_ns;
      end += fmt::format(", inside {} since {} of the log", printable(thread.in_call),
                         seconds(since > health.begin_ns ? since - health.begin_ns : 0));
    }
    fmt::print("    {:<3} tid {:<8} {:<16} {} records, {}\n", thread.ordinal, thread.tid, printable(thread.name),
               thread.records, end);
  }
  if (!health.counters.empty()) fmt::print("  counters that are not 0\n");
  for (const CounterHealth& counter : health.counters) {
    fmt::print("    {:<8} {} = {}: {}\n", severity_name(counter.severity), counter.name, counter.value,
               counter.help.empty() ? "a counter this prof does not know" : counter.help);
  }
  for (const std::string_view name : definitions.unhooked_apis)
    fmt::print("  not recorded: launches through {}\n", printable(name));
  if (definitions.incomplete_strings != 0) fmt::print("  {} names lack their end\n", definitions.incomplete_strings);
  if (!health.damage.empty()) fmt::print("  damage\n");
  for (const Damage& damage : health.damage) {
    fmt::print("    offset {}: {}{}\n", damage.offset, damage.what,
               damage.bytes_lost == 0 ? "" : fmt::format("; at most {} bytes of records lost", damage.bytes_lost));
  }
}

using Json = rapidjson::Writer<rapidjson::StringBuffer>;

void put_field(Json& json, const char* key, uint64_t value) {
  json.Key(key);
  json.Uint64(value);
}
void put_field(Json& json, const char* key, std::string_view value) {
  const std::string text = readable_utf8(value);
  json.Key(key);
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void put_log(Json& json, const LogFile& log, const LogHealth& health, const ModelHealth& model) {
  static constexpr const char* kStates[] = {"closed", "killed", "still_written"};
  put_field(json, "type", importer_of(InputFormat::prof_log).name);
  put_field(json, "version", uint64_t{log.header().version});
  json.Key("whole");
  json.Bool(whole(health, model));
  put_field(json, "verdict", verdict(health, model));
  if (!model.coverage.empty()) put_field(json, "coverage", model.coverage);
  put_field(json, "state", kStates[static_cast<int>(health.state)]);
  put_field(json, "file_bytes", log.file_bytes());
  put_field(json, "log_bytes", log.log_bytes());
  put_field(json, "pid", uint64_t{log.header().pid});
  put_field(json, "command_line", health.definitions.shown_command_line());
  put_field(json, "host", health.definitions.meta_value("host"));
  put_field(json, "begin_realtime_ns", realtime(health, health.begin_ns));
  put_field(json, "covered_ns", health.end_ns - health.begin_ns);
  put_field(json, "blocks_used", uint64_t{log.blocks().size()});
  put_field(json, "blocks_unused", log.unused_blocks());
  put_field(json, "launches", health.launches);
  put_field(json, "gpu_pending", log.counter_page().gpu_pending);
  put_field(json, "records", health.records);
  put_field(json, "unknown_records", health.unknown_records);
  if (log.is_ring()) {
    const format::RingWords& ring = log.counter_page().ring;
    json.Key("ring");
    json.StartObject();
    if (ring.bytes != ~uint64_t{0}) put_field(json, "bytes", ring.bytes);
    put_field(json, "overwritten_blocks", ring.blocks);
    put_field(json, "overwritten_records", ring.records);
    if (health.horizon_ns) put_field(json, "horizon_realtime_ns", realtime(health, *health.horizon_ns));
    json.EndObject();
  }
  if (log.counter_page().ring.copied_ns != 0) {
    json.Key("copied");
    json.Bool(true);
  }
  put_field(json, "bytes_lost", health.bytes_lost);
  json.Key("records_by_kind");
  json.StartObject();
  for (const auto& [kind, records] : health.records_by_kind)
    put_field(json, std::string(log.kinds().find(kind)->name).c_str(), records);
  json.EndObject();
  json.Key("threads");
  json.StartArray();
  for (const ThreadHealth& thread : health.threads) {
    json.StartObject();
    put_field(json, "thread", uint64_t{thread.ordinal});
    put_field(json, "tid", uint64_t{thread.tid});
    put_field(json, "name", thread.name);
    put_field(json, "records", thread.records);
    json.Key("ended");
    json.Bool(thread.ended);
    if (!thread.in_call.empty()) {
      put_field(json, "in_call", thread.in_call);
      put_field(json, "in_call_since_realtime_ns", realtime(health, thread.in_call_since_ns));
    }
    json.EndObject();
  }
  json.EndArray();
  json.Key("counters");
  json.StartArray();
  for (const CounterHealth& counter : health.counters) {
    json.StartObject();
    put_field(json, "name", counter.name);
    put_field(json, "value", counter.value);
    put_field(json, "severity", severity_name(counter.severity));
    put_field(json, "help", counter.help);
    json.EndObject();
  }
  json.EndArray();
  json.Key("unhooked_apis");
  json.StartArray();
  for (const std::string_view name : health.definitions.unhooked_apis) json.String(readable_utf8(name));
  json.EndArray();
  json.Key("damage");
  json.StartArray();
  for (const Damage& damage : health.damage) {
    json.StartObject();
    put_field(json, "offset", damage.offset);
    put_field(json, "bytes_lost", damage.bytes_lost);
    put_field(json, "what", damage.what);
    json.EndObject();
  }
  json.EndArray();
}

void put_unusable(Json& json, std::string_view type, std::string_view verdict) {
  put_field(json, "type", type);
  json.Key("whole");
  json.Bool(false);
  put_field(json, "verdict", verdict);
}

// Checks one file. If `json` is null, the output is text.
int check_one(const std::string& path, Json* json) {
  const FileHead head = read_head(path);
  const Importer* const importer = find_importer(head);
  if (importer != nullptr && importer != &importer_of(InputFormat::prof_log)) return check_trace(head, *importer, json);
  auto progress = std::make_unique<ProgressLine>("checking " + printable(path));
  LogOpenResult opened = LogFile::open(path);
  if (!opened) progress.reset();
  if (opened) {
    const LogHealth health = examine_log(*opened.log);
    const ModelHealth model = examine_model(path, health);
    progress.reset();
    if (json == nullptr) {
      print_text(*opened.log, health, model);
    } else {
      put_log(*json, *opened.log, health, model);
    }
    return whole(health, model) ? kComplete : kPartial;
  }
  std::string foreign;
  if (opened.error.kind == LogErrorKind::NotALog) foreign = conversion_of(head);
  if (opened.error.kind == LogErrorKind::NotALog && foreign.empty()) foreign = describe_other_file(head);
  if (opened.error.kind == LogErrorKind::NotALog) opened.error.advice = "nor is it a trace of a tool known here";
  if (json == nullptr) {
    if (foreign.empty()) {
      fmt::print("{}\n", opened.error.text(printable(path)));
    } else {
      fmt::print("{}: not a prof log; it looks like {}\n", printable(path), foreign);
    }
  } else {
    put_unusable(*json, foreign.empty() ? "unusable" : foreign,
                 foreign.empty() ? opened.error.text(path) : "not a prof log");
  }
  return kUnusable;
}

// Checks the files of an argument: a file, a folder, a list or a pattern.
int check_argument(const std::string& argument, Json* json) {
  const auto in_object = [json](const std::string& file, auto&& put) {
    if (json == nullptr) return put();
    json->StartObject();
    put_field(*json, "file", file);
    const int status = put();
    json->EndObject();
    return status;
  };
  std::vector<std::string> files;
  try {
    files = input_files({argument});
  } catch (const InputError& error) {
    return in_object(argument, [&] {
      if (json == nullptr) fmt::print("{}\n", printable(error.what()));
      if (json != nullptr) put_unusable(*json, "unusable", error.what());
      return kUnusable;
    });
  }
  int status = kComplete;
  for (const std::string& file : files)
    status = std::max(status, in_object(file, [&] { return check_one(file, json); }));
  return status;
}

int check(const std::vector<std::string>& paths, bool as_json) {
  ignore_broken_pipes();
  int status = kComplete;
  rapidjson::StringBuffer buffer;
  Json json(buffer);
  json.StartArray();
  for (const std::string& path : paths) status = std::max(status, check_argument(path, as_json ? &json : nullptr));
  json.EndArray();
  if (as_json) fmt::print("{}\n", buffer.GetString());
  finish_stdout();
  return status;
}

}  // namespace

void add_check(CLI::App& app, Run& run) {
  struct Options {
    std::vector<std::string> files;
    std::string format = "text";
  };
  const auto options = std::make_shared<Options>();
  CLI::App* const verb = app.add_subcommand("check", "what is this file, is it whole, what was lost");
  verb->add_option("FILE", options->files, "logs, plain or .gz, files of other tools, folders of them, @list")
      ->required();
  verb->add_option("--format", options->format, "text or json")
      ->check(one_of({"text", "json"}))
      ->option_text("FORMAT")
      ->capture_default_str();
  verb->footer(
      "Examples:\n"
      "  prof check prof.42.plog            also of a killed program: what each thread was inside\n"
      "  prof check trace.json.gz           a trace of torch.profiler or another tool: what it holds\n"
      "  prof check --format json *.plog\n"
      "Verdict: whole, all that should have been recorded is there; partial, what is missing; less exact, all is there "
      "but\n"
      "texts were cut, stacks have no end and the like. It agrees with the coverage line of reports.\n"
      "Exit status (the worst of all files): 0 whole, also if less exact; 1 damaged, partial, killed, still being "
      "written, or\n"
      "records were lost while recording; 2 neither a log nor a known trace, or not readable.");
  verb->callback([&run, options] { run = [options] { return check(options->files, options->format == "json"); }; });
}

}  // namespace prof::analyzer
