// prof report NAME… LOG…: prints tables, one for each name. The names are in reports.def.
#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/base/saturated.h"
#include "analyzer/base/sink.h"
#include "analyzer/command/command.h"
#include "analyzer/command/help_text.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/report_help.h"
#include "analyzer/command/report_options.h"
#include "analyzer/command/report_stacks.h"
#include "analyzer/command/symbol_options.h"
#include "analyzer/command/table_options.h"
#include "analyzer/output/exporters.h"
#include "analyzer/reports/gpu_times.h"
#include "analyzer/reports/reports.h"
#include "analyzer/reports/taken_options.h"

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
  bool list = false, help = false;
  std::vector<GivenOption> given;  // options that only some reports take
  std::string from, to, sort;
  std::optional<size_t> limit;
  Selection selection;
  ReportOptions report;
  StackOptions stacks;
  std::vector<std::string> before;  // --vs
};

const Report* find_report(const std::string& name) {
  const auto found =
      std::find_if(std::begin(kReports), std::end(kReports), [&](const Report& report) { return report.name == name; });
  return found == std::end(kReports) ? nullptr : found;
}

void print(std::FILE* to, const std::string& text) { std::fputs(wrapped(text, terminal_width()).c_str(), to); }

// Prints `prof report --help`, or the help of each named report.
int print_help(const std::vector<const Report*>& reports, const CLI::App& verb) {
  if (reports.empty()) print(stdout, verb.help());
  for (const Report* const report : reports) {
    if (report != reports.front()) print(stdout, "\n");
    print(stdout, report_help(*report, verb));
  }
  return kComplete;
}

// The output file of a report. If several reports write csv or json, it is NAME_report.csv in the folder of the given
// file.
std::string output_for(const ReportArguments& options, std::string_view report, size_t reports) {
  if (reports == 1 || options.table.format == TableFormat::Text || options.table.output == "-")
    return options.table.output;
  const size_t slash = options.table.output.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : options.table.output.substr(0, slash + 1);
  return fmt::format("{}{}_report.{}", folder, report, options.table.format == TableFormat::Csv ? "csv" : "json");
}

// Writes stacks in the format of another tool. The notes of a table are printed on stderr.
void write_stacks_of(const ReportArguments& options, const Report& report, const AnalysisInput& input,
                     StackFormat format) {
  std::vector<std::string> notes;
  if (options.before.empty()) {
    notes = write_stack_report(input, nullptr, format, options.table.output);
  } else {
    const std::unique_ptr<Trace> trace = read_inputs(options.before);
    const Views views(*trace, {}, options.stacks);
    Selection selection = options.selection;  // rows and processes must be those of this input
    selection.find_processes(*trace);
    selection.find_places(*trace);
    selection.find_ranges(*trace, views, options.report.captured);
    check_gpu_times(report, *trace, selection, input.options);
    const AnalysisInput before{*trace, views, selection, input.options};
    notes = write_stack_report(input, &before, format, options.table.output);
    tell_damage(*trace);
  }
  if (!options.selection.all()) notes.push_back(options.selection.text());
  for (const std::string& note : notes) std::fprintf(stderr, "prof: %s\n", note.c_str());
  std::fprintf(stderr, "prof: %s\n", coverage_line(input.trace).c_str());
}

int run_report(ReportArguments& options, const CLI::App& verb) {
  std::vector<const Report*> reports;
  std::vector<std::string> inputs;
  for (const std::string& word : options.words) {
    const Report* const report = inputs.empty() ? find_report(word) : nullptr;
    if (report != nullptr) {
      reports.push_back(report);
    } else {
      inputs.push_back(word);
    }
  }
  if (options.help) return print_help(reports, verb);
  if (options.list || options.words.empty()) {
    print(stdout, report_list());
    return kComplete;
  }
  ignore_broken_pipes();
  if (reports.empty())
    throw std::runtime_error(fmt::format("no report '{}'; `prof report --list` prints all", options.words.front()));
  for (const std::string& line : check_options(reports, options.given))
    std::fprintf(stderr, "prof: %s\n", line.c_str());
  if (inputs.empty()) throw std::runtime_error("no log or trace given");
  for (const Report* report : reports) check_selection(*report, options.selection);
  if (access(inputs.front().c_str(), F_OK) != 0 && inputs.size() > 1) {
    throw std::runtime_error(
        fmt::format("'{}' is neither a report nor a file; `prof report --list` prints the reports", inputs.front()));
  }
  CategoryRules rules = read_category_rules(options.report.rules);
  const std::unique_ptr<Trace> trace = read_inputs(inputs);
  options.selection.find_processes(*trace);
  options.selection.find_places(*trace);
  if (!options.from.empty()) options.selection.from_ns = parse_moment(*trace, options.from, false);
  if (!options.to.empty()) options.selection.to_ns = parse_moment(*trace, options.to, true);
  if (options.selection.from_ns > options.selection.to_ns) throw std::runtime_error("--from is later than --to");
  for (const Report* report : reports) {
    check_gpu_times(*report, *trace, options.selection, taken_options(*report, options.given, options.report));
  }
  options.report.names =
      options.names.value_or(options.table.format == TableFormat::Csv ? NameForm::Full : NameForm::Short);
  options.report.names_given = options.names.has_value();
  options.stacks.names = options.report.names;
  const Views views(*trace, std::move(rules), options.stacks);
  options.selection.find_ranges(*trace, views, options.report.captured);

  std::unique_ptr<Sink> sink;
  for (const Report* report : reports) {
    const ReportOptions taken = taken_options(*report, options.given, options.report);
    const AnalysisInput input{*trace, views, options.selection, taken};
    const auto* const picture_form = exporter_of_file(kRooflineExporters, options.table.output);
    if (report->name == "roofline" && options.table.other_format.empty() && picture_form != nullptr) {
      Sink picture(options.table.output);
      Estimates estimates(input, RowsAre::ByWork);
      picture_form->write(*trace, roofline(input, estimates), picture);
      picture.close();
      for (const std::string& note : estimates.notes()) std::fprintf(stderr, "prof: %s\n", note.c_str());
      std::fprintf(stderr, "prof: %s\n", coverage_line(*trace).c_str());
      continue;
    }
    if (const auto format = stack_format(report->name, options.table.other_format, options.table.output)) {
      write_stacks_of(options, *report, input, *format);
      continue;
    }
    if (!options.before.empty()) {
      throw std::runtime_error(
          "--vs: two inputs are compared by the reports about stacks with --format folded, pprof, speedscope or html");
    }
    Table table = run_report(*report, input);
    const size_t all_rows = table.rows();
    const size_t limit = options.limit.value_or(options.table.format == TableFormat::Text ? table.text_limit : 0);
    if (!options.sort.empty() && !table.sort_by(options.sort, limit)) {
      std::string keys;
      for (const TableColumn& column : table.columns()) keys += (keys.empty() ? "" : ", ") + column.key;
      throw std::runtime_error(
          fmt::format("--sort: {} has no column '{}'; it has: {}", report->name, options.sort, keys));
    }
    table.limit(limit);
    if (!options.selection.all()) table.notes.push_back(options.selection.text());
    if (table.rows() != all_rows) table.notes.push_back(fmt::format("first {} of {} rows", table.rows(), all_rows));
    table.coverage = coverage_line(*trace);
    if (any_sum_saturated) table.coverage += "; sums that are too large for 64 bits are cut there";
    const std::string path = output_for(options, report->name, reports.size());
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
  CLI::App* const verb = app.add_subcommand("report", "print tables that answer questions; without a name, list them");
  const auto options = std::make_shared<ReportArguments>();
  verb->set_help_flag();
  verb->add_flag("-h,--help", options->help, "print this, or after report names what these reports take and show");
  verb->add_option("NAMES-AND-FILES", options->words, "report names, then logs or traces of other tools");
  verb->add_flag("--list", options->list, "list the reports by question");
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
                   "NVTX ranges and annotations: begin of the name, or an expression; after an @ the domain")
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
  for (CLI::Option* const option : verb->get_options()) {
    if (is_option_of_reports(option->get_name())) option->group("Options of some reports (prof report NAME --help)");
  }
  verb->callback([options, verb, &run] {
    if (verb->count("--names") != 0) options->names = options->names_given;
    for (const CLI::Option* const option : verb->get_options()) {
      if (option->count() != 0 && is_option_of_reports(option->get_name()))
        options->given.push_back({option->get_name(), option->results()});
    }
    run = [options, verb] { return run_report(*options, *verb); };
  });
}

}  // namespace prof::analyzer
