// prof trace INPUT…: writes a Chrome trace of everything recorded, with what the analyses know about each event.
#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/command/choices.h"
#include "analyzer/command/command.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/output_options.h"
#include "analyzer/command/progress.h"
#include "analyzer/command/symbol_options.h"
#include "analyzer/model/fx_markers.h"
#include "analyzer/output/exporters.h"
#include "analyzer/output/forms.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

namespace prof::analyzer {

namespace {

struct TraceArguments {
  std::vector<std::string> inputs;
  OutputOptions output{"", false};
  std::string fx_metadata;
  bool plain = false;
  std::string arrows = "all";
  std::string stacks = "both";
  StackOptions stack;
  int level = 1;
};

void tell_markers(const FxMarkers& fx) {
  std::fprintf(stderr,
               "prof: FX markers: %llu nodes found; not found: %llu nodes, %llu files; neither file nor number: %llu\n",
               static_cast<unsigned long long>(fx.nodes_found()), static_cast<unsigned long long>(fx.nodes_unknown()),
               static_cast<unsigned long long>(fx.files_unknown()), static_cast<unsigned long long>(fx.not_numbers()));
}

// Returns the exit status: that of the model, or kPartial if the second reading found damage that the first did not
// find.
int tell_copied(const ChromeCopyCounts& copied, int status) {
  if (copied.unmatched != 0) {
    std::fprintf(stderr, "prof: %llu events were copied without additions: they are not in the model\n",
                 static_cast<unsigned long long>(copied.unmatched));
  }
  if (copied.repaired != 0) {
    std::fprintf(stderr,
                 "prof: %llu texts were no strict JSON (NaN, a comma too many, not UTF-8, unescaped backslashes) and "
                 "were mended\n",
                 static_cast<unsigned long long>(copied.repaired));
  }
  if (copied.damaged == 0) return status;
  if (status == kComplete) {
    for (const std::string& text : copied.damage) std::fprintf(stderr, "prof: %s\n", text.c_str());
  }
  return kPartial;
}

int run_trace(const TraceArguments& options) {
  ignore_broken_pipes();
  constexpr const auto& kExporter = kTraceExporters.front();
  const std::string path =
      options.output.path.empty() ? options.inputs.front() + std::string(kExporter.extension) : options.output.path;
  void(choose_form(kTraceForms, "a trace", "", path));
  std::vector<std::string> read = options.inputs;
  if (!options.fx_metadata.empty()) read.push_back(options.fx_metadata);
  check_output(path, options.output.force, read);
  const std::vector<std::string> inputs = each_file_once(options.inputs);
  const std::unique_ptr<Trace> trace = read_inputs(inputs);
  const Views views(*trace, {}, options.stack);
  const std::optional<FxMetadata> metadata =
      options.fx_metadata.empty() ? std::nullopt : std::optional(FxMetadata::read(options.fx_metadata));
  std::optional<FxMarkers> fx;
  if (metadata) {
    fx.emplace(*trace, *metadata);
    tell_markers(*fx);
  }
  ChromeTraceOptions chrome;
  chrome.plain = options.plain;
  chrome.arrows = options.arrows == "none"   ? ArrowKinds::None
                  : options.arrows == "path" ? ArrowKinds::CriticalPath
                                             : ArrowKinds::All;
  chrome.stacks = options.stacks == "none"   ? ChromeStackForm::None
                  : options.stacks == "text" ? ChromeStackForm::Text
                  : options.stacks == "both" ? ChromeStackForm::Both
                                             : ChromeStackForm::Frames;
  chrome.name = path;
  chrome.inputs = inputs;
  chrome.fx = fx ? &*fx : nullptr;
  const auto write = [&] {
    const ProgressLine progress("writing " + path);
    Sink sink(path, options.level);
    const ChromeTraceResult written = kExporter.write(*trace, views, chrome, sink);
    sink.close();
    return written;
  };
  const ChromeTraceResult result = write();
  if (path != "-") {
    std::fprintf(stderr, "prof: %s: %llu events; open it in ui.perfetto.dev or chrome://tracing\n", path.c_str(),
                 static_cast<unsigned long long>(result.events));
  }
  if (!options.plain && options.stacks != "none" && !trace->stacks.empty()) {
    for (const std::string& note : call_stacks(views).merged().notes())
      std::fprintf(stderr, "prof: %s\n", note.c_str());
  }
  std::fprintf(stderr, "prof: %s\n", coverage_line(*trace).c_str());
  return tell_copied(result.copied, tell_damage(*trace));
}

}  // namespace

void add_trace(CLI::App& app, Run& run) {
  CLI::App* const verb =
      app.add_subcommand("trace", "write a trace for ui.perfetto.dev, chrome://tracing and torch.profiler's readers");
  const auto options = std::make_shared<TraceArguments>();
  verb->add_option("INPUT", options->inputs, "logs and other tools' traces; several become one trace")->required();
  options->output.add_to(*verb, "file, .json, - for stdout; .gz compresses (default: FIRST-INPUT" +
                                    std::string(kTraceExporters.front().extension) + ")");
  verb->add_flag("--plain", options->plain,
                 "only what was recorded: no queue depth, paths, times, arrows or counters added");
  verb->add_option("--arrows", options->arrows,
                   "beside those from launches: all, path (only along the critical path) or none")
      ->check(one_of({"all", "path", "none"}))
      ->option_text("WHICH=all")
      ->capture_default_str();
  verb->add_option(
          "--stacks", options->stacks,
          "call stacks: frames (small, for chrome://tracing), text (\"Call stack\" of calls and GPU operations, as "
          "torch.profiler "
          "has it), both (frames, and text of calls, which ui.perfetto.dev shows; above 32 MiB its line only) or none")
      ->check(one_of({"both", "frames", "text", "none"}))
      ->option_text("FORM=both")
      ->capture_default_str();
  add_symbol_options(*verb, options->stack);
  verb->add_option("--fx-metadata", options->fx_metadata,
                   "JSON file of FX graphs: adds stack_trace and node_name to what runs inside \"## NODE ##\" markers");
  verb->add_option("--level", options->level, "gzip level")
      ->check(whole_number(1, 9))
      ->option_text("1..9=1")
      ->capture_default_str();
  verb->callback([options, &run] { run = [options] { return run_trace(*options); }; });
}

}  // namespace prof::analyzer
