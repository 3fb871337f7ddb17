// prof report NAME… LOG…: tables, one for each name. The names are in registry.def.
#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/base/sink.h"
#include "analyzer/command/command.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/report_options.h"
#include "analyzer/command/report_stacks.h"
#include "analyzer/command/symbol_options.h"
#include "analyzer/command/table_options.h"
#include "analyzer/output/exporters.h"
#include "analyzer/reports/gpu_times.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>

namespace prof::analyzer {

namespace {

struct ReportArguments {
  std::vector<std::string> words;  // report names, then inputs
  TableOptions table;
  std::optional<NameForm> names;
  NameForm names_given = NameForm::Short;
  bool list = false;
  std::string from, to, sort;
  std::optional<size_t> limit;
  Selection selection;
  ReportOptions report;
  StackOptions stacks;
  std::vector<std::string> before;  // --vs
};

const Analysis* find_analysis(const std::string& name) {
  const auto found =
      std::find_if(std::begin(kAnalyses), std::end(kAnalyses), [&](const Analysis& a) { return a.name == name; });
  return found == std::end(kAnalyses) ? nullptr : found;
}

std::string all_names() {
  std::string names;
  for (const Analysis& analysis : kAnalyses) names += (names.empty() ? "" : ", ") + std::string(analysis.name);
  return names;
}

int list_reports() {
  for (const Analysis& analysis : kAnalyses) {
    std::fprintf(stdout, "%-21.*s %.*s\n", static_cast<int>(analysis.name.size()), analysis.name.data(),
                 static_cast<int>(analysis.question.size()), analysis.question.data());
  }
  return kComplete;
}

// Several reports to one csv or json file: NAME_report.csv each, beside that file.
std::string output_for(const ReportArguments& options, std::string_view report, size_t reports) {
  if (reports == 1 || options.table.format == TableFormat::Text || options.table.output == "-")
    return options.table.output;
  const size_t slash = options.table.output.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : options.table.output.substr(0, slash + 1);
  return fmt::format("{}{}_report.{}", folder, report, options.table.format == TableFormat::Csv ? "csv" : "json");
}

// Stacks in the form of another tool; what a table would have as notes goes to stderr.
void write_stacks_of(const ReportArguments& options, const Analysis& analysis, const AnalysisInput& input,
                     StackFormat format) {
  std::vector<std::string> notes;
  if (options.before.empty()) {
    notes = write_stack_report(input, nullptr, format, options.table.output);
  } else {
    const std::unique_ptr<Trace> trace = read_inputs(options.before);
    const Views views(*trace, {}, options.stacks);
    Selection selection = options.selection;  // rows and processes are those of this input
    selection.find_processes(*trace);
    selection.find_places(*trace);
    selection.find_ranges(*trace, views, options.report.captured);
    check_gpu_times(analysis, *trace, selection, options.report);
    const AnalysisInput before{*trace, views, selection, options.report};
    notes = write_stack_report(input, &before, format, options.table.output);
    tell_damage(*trace);
  }
  if (!options.selection.all()) notes.push_back(options.selection.text());
  for (const std::string& note : notes) std::fprintf(stderr, "prof: %s\n", note.c_str());
  std::fprintf(stderr, "prof: %s\n", coverage_line(input.trace).c_str());
}

int run_report(ReportArguments& options) {
  if (options.list) return list_reports();
  ignore_broken_pipes();
  std::vector<const Analysis*> analyses;
  std::vector<std::string> inputs;
  for (const std::string& word : options.words) {
    const Analysis* const analysis = inputs.empty() ? find_analysis(word) : nullptr;
    if (analysis != nullptr) {
      analyses.push_back(analysis);
    } else {
      inputs.push_back(word);
    }
  }
  if (analyses.empty()) {
    throw std::runtime_error(options.words.empty()
                                 ? "which report? One of: " + all_names()
                                 : fmt::format("no report '{}'; there are: {}", options.words.front(), all_names()));
  }
  if (inputs.empty()) throw std::runtime_error("no log or trace given");
  for (const Analysis* analysis : analyses) check_selection(*analysis, options.selection);
  if (access(inputs.front().c_str(), F_OK) != 0 && inputs.size() > 1) {
    throw std::runtime_error(
        fmt::format("'{}' is neither a report nor a file; reports: {}", inputs.front(), all_names()));
  }
  CategoryRules rules = read_category_rules(options.report.rules);
  const std::unique_ptr<Trace> trace = read_inputs(inputs);
  options.selection.find_processes(*trace);
  options.selection.find_places(*trace);
  if (!options.from.empty()) options.selection.from_ns = parse_moment(*trace, options.from, false);
  if (!options.to.empty()) options.selection.to_ns = parse_moment(*trace, options.to, true);
  if (options.selection.from_ns > options.selection.to_ns) throw std::runtime_error("--from is later than --to");
  for (const Analysis* analysis : analyses) check_gpu_times(*analysis, *trace, options.selection, options.report);
  options.report.names =
      options.names.value_or(options.table.format == TableFormat::Csv ? NameForm::Full : NameForm::Short);
  options.report.names_given = options.names.has_value();
  options.stacks.names = options.report.names;
  const Views views(*trace, std::move(rules), options.stacks);
  options.selection.find_ranges(*trace, views, options.report.captured);
  const AnalysisInput input{*trace, views, options.selection, options.report};

  std::unique_ptr<Sink> sink;
  for (const Analysis* analysis : analyses) {
    const auto* const picture_form = exporter_of_file(kRooflineExporters, options.table.output);
    if (analysis->name == "roofline" && options.table.other_format.empty() && picture_form != nullptr) {
      Sink picture(options.table.output);
      Estimates estimates(input, RowsAre::ByWork);
      picture_form->write(*trace, roofline(input, estimates), picture);
      picture.close();
      for (const std::string& note : estimates.notes()) std::fprintf(stderr, "prof: %s\n", note.c_str());
      std::fprintf(stderr, "prof: %s\n", coverage_line(*trace).c_str());
      continue;
    }
    if (const auto format = stack_format(analysis->name, options.table.other_format, options.table.output)) {
      write_stacks_of(options, *analysis, input, *format);
      continue;
    }
    if (!options.before.empty()) {
      throw std::runtime_error(
          "--vs: two inputs are compared by the reports about stacks with --format folded, pprof, speedscope or html");
    }
    Table table = run_report(*analysis, input);
    const size_t all_rows = table.rows();
    const size_t limit = options.limit.value_or(options.table.format == TableFormat::Text ? table.text_limit : 0);
    if (!options.sort.empty() && !table.sort_by(options.sort, limit)) {
      std::string keys;
      for (const TableColumn& column : table.columns()) keys += (keys.empty() ? "" : ", ") + column.key;
      throw std::runtime_error(
          fmt::format("--sort: {} has no column '{}'; it has: {}", analysis->name, options.sort, keys));
    }
    table.limit(limit);
    if (!options.selection.all()) table.notes.push_back(options.selection.text());
    if (table.rows() != all_rows) table.notes.push_back(fmt::format("first {} of {} rows", table.rows(), all_rows));
    table.coverage = coverage_line(*trace);
    const std::string path = output_for(options, analysis->name, analyses.size());
    if (sink == nullptr || sink->path() != path) {
      if (sink != nullptr) sink->close();
      sink = std::make_unique<Sink>(path);
    } else {
      sink->write("\n");
    }
    write_table(table, options.table.format, options.table.unit, *sink);
  }
  if (sink != nullptr) sink->close();
  if (options.table.format == TableFormat::Csv) std::fprintf(stderr, "prof: %s\n", coverage_line(*trace).c_str());
  return tell_damage(*trace);
}

}  // namespace

void add_report(CLI::App& app, Run& run) {
  CLI::App* const verb = app.add_subcommand("report", "tables: " + all_names());
  const auto options = std::make_shared<ReportArguments>();
  verb->add_option("NAMES-AND-FILES", options->words, "report names, then logs or traces of other tools");
  verb->add_flag("--list", options->list, "list the reports");
  add_names_option(*verb, options->names_given);
  options->table.add_to(*verb, stack_format_names());
  verb->add_option("--from", options->from,
                   "begin of the window: 1.5s, 300ms, 20us or @NVTX-name#k, from the trace's zero");
  verb->add_option("--to", options->to, "end of the window");
  verb->add_option("--sort", options->sort, "column; -COLUMN sorts descending (write --sort=-COLUMN)");
  verb->add_option("--limit", options->limit, "most rows");
  verb->add_option("--process", options->selection.process_words, "process ids or names of executables")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--rank", options->selection.ranks, "ranks of processes")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--device", options->selection.devices, "device ordinals")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--stream", options->selection.streams, "stream numbers")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--thread", options->selection.threads, "system thread ids")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--nvtx", options->selection.nvtx_words,
                   "NVTX ranges and annotations: begin of the name, or an expression; behind an @ the domain")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->option_text("NAME[@DOMAIN]");
  add_report_options(*verb, options->report);
  add_symbol_options(*verb, options->stacks);
  verb->add_option("--vs", options->before, "stacks, flame: logs or traces to compare with")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->option_text("FILE");
  verb->callback([options, verb, &run] {
    if (verb->count("--names") != 0) options->names = options->names_given;
    run = [options] { return run_report(*options); };
  });
}

}  // namespace prof::analyzer
