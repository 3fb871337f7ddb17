// prof trace INPUT…: writes a Chrome trace of everything recorded, with what the analyses know about each event.
#include "analyzer/analysis/collectives/host_clocks.h"
#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/command/choices.h"
#include "analyzer/command/command.h"
#include "analyzer/command/input_list.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/output_options.h"
#include "analyzer/command/progress.h"
#include "analyzer/command/selection_options.h"
#include "analyzer/command/symbol_options.h"
#include "analyzer/model/fx_markers.h"
#include "analyzer/output/exporters.h"
#include "analyzer/output/forms.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

namespace prof::analyzer {

namespace {

constexpr uint64_t kMostForBrowser = 2'000'000;  // events

struct TraceArguments {
  std::vector<std::string> inputs;
  OutputOptions output{"", false};
  std::string format;
  Selection selection;
  std::string from, to;
  std::string render_stages = "kernels";
  std::string fx_metadata;
  bool plain = false;
  std::string arrows = "all";
  std::string stacks = "both";
  StackOptions stack;
  int level = 0;  // 0: that of the format
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

// Beside the first input. Not in a folder that is an input: the next call would read the trace too.
std::string default_path(const std::string& argument, const std::string& first_file, std::string_view extension) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path name = first_file;
  if (fs::is_directory(argument, error)) {
    name = fs::path(argument).lexically_normal();
    if (!name.has_filename()) name = name.parent_path();  // "job/"
    if (name.empty() || name.filename() == "." || name.filename() == "..") name = fs::canonical(argument, error);
  }
  return name.string() + ".trace" + std::string(extension) + ".gz";
}

int run_trace(const TraceArguments& options) {
  ignore_broken_pipes();
  const Form& form = choose_form(kTraceForms, "a trace", options.format, options.output.path);
  const auto& exporter = *exporter_named(kTraceExporters, form.name);
  const std::vector<std::string> given = input_files(options.inputs);
  std::vector<std::string> inputs = each_file_once(given);
  const std::string path = options.output.path.empty()
                               ? default_path(options.inputs.front(), given.front(), exporter.extension)
                               : options.output.path;
  std::vector<std::string> read = inputs;
  if (!options.fx_metadata.empty()) read.push_back(options.fx_metadata);
  check_output(path, options.output.force, read);
  const std::unique_ptr<Trace> trace = read_inputs(inputs);
  for (const UnusableInput& each : trace->unusable) std::erase(inputs, each.path);
  Selection selection = options.selection;
  find_selection(selection, *trace, options.from, options.to);
  const Views views(*trace, {}, options.stack);
  selection.find_ranges(*trace, views, false);
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
  chrome.render_stages = options.render_stages != "none";
  if (!selection.all()) chrome.selection = &selection;
  chrome.name = path;
  chrome.inputs = inputs;
  chrome.fx = fx ? &*fx : nullptr;
  const auto write = [&] {
    const ProgressLine progress("writing " + path);
    const int level = options.level != 0 ? options.level : form.name == "perfetto" ? 6 : 1;
    Sink sink(path, level);
    const ChromeTraceResult written = exporter.write(*trace, views, chrome, sink);
    sink.close();
    return written;
  };
  const ChromeTraceResult result = write();
  if (path != "-") {
    std::fprintf(stderr, "prof: %s: %llu events; open it in ui.perfetto.dev%s\n", path.c_str(),
                 static_cast<unsigned long long>(result.events), form.name == "chrome" ? " or chrome://tracing" : "");
  }
  if (result.events > kMostForBrowser) {
    std::fprintf(
        stderr,
        "prof: that is more than a browser shows well (%llu events). --from, --to, --rank, --process, --device "
        "and --nvtx select a part%s\n",
        static_cast<unsigned long long>(kMostForBrowser),
        form.name == "chrome" ? "; -o FILE.pftrace is smaller and loads faster" : "");
  }
  if (!options.plain && options.stacks != "none" && !trace->stacks.empty()) {
    for (const std::string& note : call_stacks(views).merged().notes())
      std::fprintf(stderr, "prof: %s\n", note.c_str());
  }
  for (const std::string& line : clock_lines(*trace)) std::fprintf(stderr, "prof: %s\n", readable_lines(line).c_str());
  std::fprintf(stderr, "prof: %s\n", coverage_line(*trace).c_str());
  return tell_copied(result.copied, tell_damage(*trace));
}

}  // namespace

void add_trace(CLI::App& app, Run& run) {
  CLI::App* const verb =
      app.add_subcommand("trace", "write a trace for ui.perfetto.dev, chrome://tracing and torch.profiler's readers");
  const auto options = std::make_shared<TraceArguments>();
  verb->add_option("INPUT", options->inputs,
                   "logs, traces of other tools, folders of them, @list; they become one trace")
      ->required();
  options->output.add_to(*verb, "file, .json, - for stdout; .gz compresses (default: FIRST-INPUT" +
                                    std::string(".trace.json.gz, beside a folder)"));
  std::vector<std::string> form_words;
  for (const Form& form : kTraceForms) form_words.emplace_back(form.name);
  verb->add_option("--format", options->format, "chrome: JSON of a Chrome trace; perfetto: a Perfetto trace, smaller")
      ->check(one_of(form_words))
      ->option_text("FORMAT");
  add_window_options(*verb, options->from, options->to);
  add_place_options(*verb, options->selection);
  add_nvtx_option(*verb, options->selection);
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
  verb->add_option(
          "--render-stages", options->render_stages,
          "of a Perfetto trace: kernels, which are also written as render stages for the viewer's GPU views, or "
          "none")
      ->check(one_of({"kernels", "none"}))
      ->option_text("WHICH=kernels")
      ->capture_default_str();
  add_symbol_options(*verb, options->stack);
  verb->add_option("--fx-metadata", options->fx_metadata,
                   "JSON file of FX graphs: adds stack_trace and node_name to what runs inside \"## NODE ##\" markers");
  verb->add_option("--level", options->level,
                   "gzip level; without it 1 for JSON and 6 for Perfetto, which take as long")
      ->check(whole_number(1, 9))
      ->option_text("1..9");
  verb->callback([options, &run] { run = [options] { return run_trace(*options); }; });
}

}  // namespace prof::analyzer
