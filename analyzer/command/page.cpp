// prof page INPUT… -o FILE.html: writes one HTML page that shows a run.
#include "analyzer/analysis/diff/run_diff.h"
#include "analyzer/command/command.h"
#include "analyzer/command/diff_side.h"
#include "analyzer/command/input_list.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/output_options.h"
#include "analyzer/command/progress.h"
#include "analyzer/command/symbol_options.h"
#include "analyzer/output/diff_table.h"
#include "analyzer/output/exporters.h"
#include "analyzer/output/forms.h"
#include "analyzer/reports/gpu_times.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

namespace prof::analyzer {

namespace {

struct PageArguments {
  std::vector<std::string> inputs, before;
  OutputOptions output{"report.html", false};
  StackOptions stacks;
  bool redact = false;
};

// What tell_damage() prints, for the readers of the page.
std::vector<std::string> messages_of(const Trace& trace) {
  std::vector<std::string> messages;
  for (const UnusableInput& each : trace.unusable) messages.push_back(each.why + "; it is left out");
  for (const Process& process : trace.processes) {
    for (const std::vector<std::string>* lines : {&process.damage, &process.partial})
      messages.insert(messages.end(), lines->begin(), lines->end());
  }
  return messages;
}

// The rows of all inputs as one run, compared with the earlier runs.
std::unique_ptr<const Table> table_of_changes(const AnalysisInput& input, ReadSide before) {
  std::vector<RunWork> now;
  now.push_back(run_rows(input, "", false));
  const RunDiff diff = run_diff(std::move(now), std::move(before.runs));
  auto table = std::make_unique<Table>(diff_table({diff, {}, NameForm::Short, {}, before.coverage, nullptr}));
  table->store();
  return table;
}

int run_page(const PageArguments& options) {
  ignore_broken_pipes();
  void(choose_form(kPageForms, "a page", "", options.output.path));
  const std::vector<std::string> inputs = input_files(options.inputs);
  std::vector<std::string> read = inputs;
  for (const std::string& file : files_of_runs(options.before)) read.push_back(file);
  read.insert(read.end(), options.stacks.fold.begin(), options.stacks.fold.end());
  check_output(options.output.path, options.output.force, read);
  const ReportOptions report;
  int status = kComplete;
  ReadSide before = read_side(options.before, {report, options.stacks}, status);
  const std::unique_ptr<Trace> trace = read_inputs(inputs);
  const Views views(*trace, {}, options.stacks);
  const Selection selection;
  const AnalysisInput input{*trace, views, selection, report};
  std::unique_ptr<const Table> changes;
  if (!before.runs.empty()) {
    need_all_times("diff", *trace);
    changes = table_of_changes(input, std::move(before));
  }
  {
    const ProgressLine progress("writing " + options.output.path);
    Sink sink(options.output.path);
    kPageExporters.front().write(input, {options.redact, messages_of(*trace), changes.get()}, sink);
    sink.close();
  }
  std::fprintf(stderr, "prof: %s\n", coverage_line(*trace).c_str());
  return std::max(status, tell_damage(*trace));
}

}  // namespace

void add_page(CLI::App& app, Run& run) {
  CLI::App* const verb = app.add_subcommand("page", "write one HTML page that shows a run: timeline, tables, findings");
  const auto options = std::make_shared<PageArguments>();
  verb->add_option("INPUT", options->inputs, "logs, traces of other tools, folders of them, @list; one page for all")
      ->required();
  verb->add_option("--vs", options->before, "earlier runs, logs, traces or folders of logs: what changed since then")
      ->option_text("OLD...");
  options->output.add_to(*verb, "file, .html; .html.gz compresses; - for stdout (default: report.html)");
  verb->add_flag("--redact", options->redact, "leave out the command line, folders of paths, hosts and users");
  add_symbol_options(*verb, options->stacks);
  verb->callback([options, &run] { run = [options] { return run_page(*options); }; });
}

}  // namespace prof::analyzer
