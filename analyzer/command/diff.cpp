// prof diff NEW… --vs OLD…: what changed between two sides of runs, by how much, and is it significant? Each input
// is a run.
#include "analyzer/analysis/diff/gate.h"
#include "analyzer/base/sink.h"
#include "analyzer/command/command.h"
#include "analyzer/command/diff_side.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/progress.h"
#include "analyzer/command/report_options.h"
#include "analyzer/command/sort_option.h"
#include "analyzer/command/symbol_options.h"
#include "analyzer/command/table_options.h"
#include "analyzer/output/diff_table.h"
#include "analyzer/output/exporters.h"
#include "analyzer/output/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace prof::analyzer {

namespace {

struct DiffArguments {
  std::vector<std::string> now, before, labels;
  std::vector<GateRule> rules;  // --fail-if
  TableOptions table;
  NameForm names = NameForm::Short;
  bool side_by_side = false;
  std::string sort;
  size_t limit = 0;
  ReportOptions report;
  StackOptions stacks;
};

void write_rows(const DiffArguments& options, const DiffAnswer& answer, TableForm form, Sink& sink) {
  const RunDiff& diff = answer.diff;
  Table table = options.side_by_side ? side_by_side_table(answer) : diff_table(answer);
  const size_t rows = table.rows();
  if (!options.sort.empty() && !table.sort_by(options.sort, options.limit)) {
    throw std::runtime_error("--sort: " + unknown_column(table, options.sort));
  }
  if (options.limit != 0) table.limit(options.limit);
  if (table.rows() != rows) table.notes.push_back(fmt::format("first {} of {} rows", table.rows(), rows));
  table.coverage = fmt::format("rows {}, on both sides {}", rows,
                               std::count_if(diff.rows.begin(), diff.rows.end(), [](const DiffRow& row) {
                                 return row.now.launches != 0 && row.before.launches != 0;
                               }));
  write_document(table, form, options.table.unit, sink, options.table.output.terminal_columns());
}

// The verdicts, and the exit status that they make.
std::vector<GateVerdict> judge_all(const std::vector<GateRule>& rules, const RunDiff& diff, int& status) {
  std::vector<GateVerdict> verdicts;
  bool failed = false, undecided = false;
  for (const GateRule& rule : rules) {
    const GateVerdict& verdict = verdicts.emplace_back(judge(rule, diff));
    failed = failed || verdict.status == GateStatus::Failed;
    undecided = undecided || verdict.status == GateStatus::Undecided;
    std::fprintf(stderr, "prof: --fail-if %s: %s: %s\n", rule.text.c_str(),
                 std::string(gate_status_name(verdict.status)).c_str(), verdict.reason.c_str());
  }
  if (failed) {
    status = kFailedIf;
  } else if (undecided) {
    status = kUndecided;
  }
  return verdicts;
}

int run_diff_verb(const DiffArguments& options) {
  ignore_broken_pipes();
  DiffLabels labels;
  if (!options.labels.empty() && options.labels.size() != 2) throw std::runtime_error("--label: two names, NEW,OLD");
  if (options.labels.size() == 2) labels = {options.labels[0], options.labels[1]};
  const OutputOptions& output = options.table.output;
  const std::vector<Form> forms = diff_forms();
  const Form form = choose_form(forms, "diff", options.table.format, output.path);
  const auto* const exporter = exporter_named(kDiffExporters, form.name);
  std::vector<std::string> read = files_of_runs(options.now);
  for (const std::string& file : files_of_runs(options.before)) read.push_back(file);
  read.insert(read.end(), options.report.devices.begin(), options.report.devices.end());
  check_output(output.path, output.force, read);
  if (exporter != nullptr && exporter->write == write_gate_junit && options.rules.empty())
    throw std::runtime_error("JUnit XML has a test case for each --fail-if; none is given");
  const bool page = exporter != nullptr && exporter->write == write_diff_page;
  int status = kComplete;
  const ReadSideOptions side{options.report, options.stacks, options.side_by_side, page};
  ReadSide before = read_side(options.before, side, status);
  ReadSide now = read_side(options.now, side, status);
  std::vector<std::string> coverage = before.coverage;
  coverage.insert(coverage.end(), now.coverage.begin(), now.coverage.end());
  auto progress = std::make_unique<ProgressLine>("comparing");
  const RunDiff diff = run_diff(std::move(now.runs), std::move(before.runs));
  progress.reset();
  const std::vector<GateVerdict> verdicts = judge_all(options.rules, diff, status);
  DiffAnswer answer{diff, labels, options.names, verdicts, coverage, nullptr};
  Sink sink(output.path);
  if (exporter != nullptr) {
    const CallTree both = page ? compare_trees(now.stacks->tree, before.stacks->tree) : CallTree();
    if (both.nodes().size() > 1) answer.flame = &both;
    exporter->write(answer, sink);
  } else {
    write_rows(options, answer, *table_form(form.name), sink);
  }
  sink.close();
  return status;
}

}  // namespace

void add_diff(CLI::App& app, Run& run) {
  CLI::App* const verb = app.add_subcommand("diff", "what changed between runs, by how much, and is it real?");
  const auto options = std::make_shared<DiffArguments>();
  verb->add_option("NEW", options->now, "logs, traces or folders of logs, one a run")->required();
  verb->add_option("--vs", options->before, "what to compare with, likewise")->required()->option_text("OLD...");
  verb->add_option("--label", options->labels, "names for the two sides, instead of now and before")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->option_text("NEW,OLD");
  verb->add_option_function<std::vector<std::string>>(
          "--fail-if",
          [options](const std::vector<std::string>& words) {
            for (const std::string& word : words) options->rules.push_back(parse_gate_rule(word));
          },
          "exit with 3 if a quantity grew by more than P %, with 4 if the runs do not decide it: slower:P% (mean time "
          "of "
          "any row), kernel:NAME:P%, wall:P%, busy:P%, idle:P%, memory:P% (peak in use)")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->option_text("WHAT:P%");
  verb->add_flag("--side-by-side", options->side_by_side, "counts, rates and shares of the peaks of both sides");
  verb->add_option("--sort", options->sort, "column; -COLUMN sorts descending (write --sort=-COLUMN)");
  verb->add_option("--limit", options->limit, "most rows; 0: all")->check(whole_number(0))->option_text("N");
  verb->add_option(
          "--devices", options->report.devices,
          "file of peaks of GPUs, looked at before the built-in ones; measured: those of `prof devices --measure`")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->option_text("FILE");
  verb->add_option("--dtype", options->report.dtype, "type of elements where a trace has none")
      ->check(one_of({"fp64", "fp32", "fp16", "bf16", "fp8", "int8"}))
      ->option_text("TYPE");
  add_names_option(*verb, options->names);
  add_ranges_option(*verb, options->report);
  options->table.add_to(*verb, diff_forms());
  add_symbol_options(*verb, options->stacks);
  verb->callback([options, &run] { run = [options] { return run_diff_verb(*options); }; });
}

}  // namespace prof::analyzer
