// Any bytes as a log, through the whole analyzer: the model, every report as text and as JSON, the summary, the trace
// and the stacks in the formats of other tools. Nothing may crash, hang or read outside its memory; JSON output is
// checked by a strict reader. An error message of a report is a valid result. The input also chooses the options, so
// that each finding can be reproduced from its bytes.
#include "analyzer/analysis/stacks/stack_tree.h"
#include "analyzer/command/report_stacks.h"
#include "analyzer/input/log/build/builder.h"
#include "analyzer/input/log/log_file.h"
#include "analyzer/model/coverage.h"
#include "analyzer/output/chrome/chrome_trace.h"
#include "analyzer/output/nvprof_text.h"
#include "analyzer/reports/reports.h"
#include "tests/fuzz/strict_json.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace {

using namespace prof::analyzer;

// Small numbers that are taken one after another from one large number.
class Choice {
 public:
  explicit Choice(uint64_t from) : left_(from) {}
  uint64_t of(uint64_t count) {
    const uint64_t chosen = left_ % count;
    left_ /= count;
    return chosen;
  }

 private:
  uint64_t left_;
};

uint64_t hash_of(const uint8_t* data, size_t size) {
  return std::accumulate(data, data + size, uint64_t{14695981039346656037u}, [](uint64_t hash, uint8_t byte) {
    return (hash ^ byte) * 1099511628211u;  // FNV-1a
  });
}

std::unique_ptr<Trace> trace_of(const uint8_t* data, size_t size, size_t copies) {
  std::vector<std::unique_ptr<LogFile>> logs;
  for (size_t i = 0; i < copies; ++i) {
    LogOpenResult opened = LogFile::from_memory(std::vector<uint8_t>(data, data + size), "fuzz");
    if (!opened) return nullptr;
    logs.push_back(std::move(opened.log));
  }
  ImportOptions options;
  options.workers = 1;
  return build_trace(std::move(logs), options);
}

template <class Write> std::string written(Write&& write) {
  std::string text;
  Sink sink(&text);
  write(sink);
  sink.close();
  return text;
}

void require_json(const std::string& text, std::string_view of) {
  if (prof::tests::is_json(text)) return;
  std::fprintf(stderr, "no strict JSON of %.*s:\n%s\n", static_cast<int>(of.size()), of.data(), text.c_str());
  std::abort();
}

// Runs `question`; an error message is a valid result.
template <class Ask> void ask(Ask&& question) {
  try {
    question();
  } catch (const std::runtime_error&) {}
}

void run_reports(const AnalysisInput& input) {
  for (const Report& report : kReports) {
    ask([&] {
      check_selection(report, input.selection);
      Table table = report.run(input);
      table.coverage = coverage_line(input.trace);
      written([&](Sink& sink) { write_table(table, TableFormat::Text, TimeUnit::Auto, sink); });
      if (!table.columns().empty()) table.sort_by("-" + table.columns().back().key, 100);
      const auto json = written([&](Sink& sink) { write_table(table, TableFormat::Json, TimeUnit::Ns, sink); });
      require_json(json, report.name);
      written([&](Sink& sink) { write_table(table, TableFormat::Csv, TimeUnit::Us, sink); });
    });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Choice choice(hash_of(data, size));
  const std::unique_ptr<Trace> trace = trace_of(data, size, choice.of(8) == 0 ? 2 : 1);
  if (trace == nullptr) return 0;
  StackOptions stacks;
  stacks.symbols.off = true;  // a path in an input must not be opened
  const Views views(*trace, {}, stacks);

  ReportOptions options;
  options.definitions = static_cast<Definitions>(choice.of(5));
  options.names = static_cast<NameForm>(choice.of(3));
  options.captured = choice.of(2) == 0;
  options.peaks = choice.of(2) == 0;
  options.dtype = choice.of(2) == 0 ? "float16" : "";
  options.device_as = choice.of(2) == 0 ? "H100 SXM" : "";
  Selection selection;
  if (choice.of(4) == 0) selection.from_ns = trace->last_ns / 4, selection.to_ns = trace->last_ns / 2;
  if (choice.of(4) == 0) selection.devices = {0};
  if (choice.of(4) == 0 && !trace->ranges.empty()) {
    selection.nvtx_words = {"all"};
    ask([&] { selection.find_ranges(*trace, views, options.captured); });
  }
  run_reports({*trace, views, selection, options});
  ask([&] { written([&](Sink& sink) { write_nvprof_text(*trace, views.names(), {}, {}, sink); }); });
  ask([&] {
    ChromeTraceOptions chrome;
    chrome.name = "fuzz", chrome.inputs = {"fuzz"};
    chrome.stacks = static_cast<ChromeStackForm>(choice.of(3));
    require_json(written([&](Sink& sink) { write_chrome_trace(*trace, views, chrome, sink); }), "trace");
  });
  ask([&] {
    options.metric = choice.of(2) == 0 ? "launches" : "gpu-time";
    const auto format = static_cast<StackFormat>(choice.of(4));
    written([&](Sink& sink) { write_stack_report({*trace, views, selection, options}, nullptr, format, sink); });
  });
  return 0;
}
