// prof report NAME… LOG…: prints tables, one for each name. The names are in reports.def.
#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/base/saturated.h"
#include "analyzer/base/sink.h"
#include "analyzer/command/command.h"
#include "analyzer/command/help_text.h"
#include "analyzer/command/input_list.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/nearest.h"
#include "analyzer/command/progress.h"
#include "analyzer/command/rank_inputs.h"
#include "analyzer/command/report_help.h"
#include "analyzer/command/report_options.h"
#include "analyzer/command/report_stacks.h"
#include "analyzer/command/selection_options.h"
#include "analyzer/command/sort_option.h"
#include "analyzer/command/symbol_options.h"
#include "analyzer/command/table_options.h"
#include "analyzer/output/exporters.h"
#include "analyzer/output/forms.h"
#include "analyzer/output/page/rank_page.h"
#include "analyzer/reports/gpu_times.h"
#include "analyzer/reports/ranks/ranks.h"
#include "analyzer/reports/reports.h"
#include "analyzer/reports/run_report.h"
#include "analyzer/reports/taken_options.h"
#include "analyzer/table/table_document.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <system_error>

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
  std::string split;  // rank, host or process: tables of their own
  std::optional<size_t> limit;
  Selection selection;
  ReportOptions report;
  StackOptions stacks;
  std::vector<std::string> before;  // --vs
};

constexpr std::string_view kKernelFlag = "--kernel";

const Report* find_report(const std::string& name) {
  const auto found =
      std::find_if(std::begin(kReports), std::end(kReports), [&](const Report& report) { return report.name == name; });
  return found == std::end(kReports) ? nullptr : found;
}

void print(std::FILE* to, const std::string& text) { fmt::print(to, "{}", wrapped(text, terminal_width())); }

// Prints `prof report --help`, or the help of each named report.
int print_help(const std::vector<const Report*>& reports, const CLI::App& verb) {
  if (reports.empty()) print(stdout, verb.help());
  for (const Report* const report : reports) {
    if (report != reports.front()) print(stdout, "\n");
    print(stdout, report_help(*report, verb));
  }
  return kComplete;
}

// One report and where it goes.
struct PlannedReport {
  const Report* report;
  Form form;
  std::string path;
  OwnerGroup part = {};  // of --split; without a name: all processes

  bool is_roofline() const {
    return report->name == "roofline" && exporter_named(kRooflineExporters, form.name) != nullptr;
  }
  std::optional<StackFormat> stacks() const { return stack_format(report->name, form.name); }
};

bool is_folder(const std::string& path) {
  std::error_code error;
  return path != "-" && (path.ends_with('/') || std::filesystem::is_directory(path, error));
}

// Every report goes to the output file, or to NAME_report.EXTENSION in the output folder.
std::vector<PlannedReport> plan_reports(const std::vector<const Report*>& reports, const TableOptions& table) {
  const std::string& path = table.output.path;
  std::vector<PlannedReport> plan;
  for (const Report* const report : reports) {
    const Form form = choose_form(report_forms(report->name), report->name, table.format, path);
    plan.push_back({report, form, path});
    if (is_folder(path)) {
      plan.back().path =
          fmt::format("{}{}{}_report{}", path, path.ends_with('/') ? "" : "/", report->name, form.extension);
      continue;
    }
    const bool may_follow = form.holds_several || (path == "-" && form.name == "csv");
    if (reports.size() > 1 && !may_follow) {
      throw std::runtime_error(fmt::format(
          "{}: {} holds one report, and {} are given; give a folder that ends in /, such as -o reports/ --format {}",
          path == "-" ? "--format " + std::string(form.name) : path, form.name, reports.size(), form.name));
    }
  }
  return plan;
}

// CSV has no place for the name of a part, and pictures of stacks are one a file.
void check_split(const std::vector<PlannedReport>& plan, bool each_its_file) {
  for (const PlannedReport& planned : plan) {
    if (planned.report->name == "ranks") throw std::runtime_error("--split: ranks compares ranks in one table");
    if (each_its_file || (planned.form.holds_several && !planned.stacks() && !planned.is_roofline())) continue;
    throw std::runtime_error(fmt::format(
        "--split: several tables do not fit {} {}; give a folder that ends in /, such as -o reports/ "
        "--format {}",
        planned.path == "-" ? "--format" : planned.path + " of format", planned.form.name, planned.form.name));
  }
}

// The plan with a table for each rank, host or process (--split). In a folder each has a file of its own.
std::vector<PlannedReport> split_plan(const std::vector<PlannedReport>& plan, const std::vector<OwnerGroup>& parts,
                                      bool each_its_file) {
  std::vector<PlannedReport> split;
  for (const PlannedReport& planned : plan) {
    for (const OwnerGroup& part : parts) {
      PlannedReport& one = split.emplace_back(planned);
      one.part = part;
      if (!each_its_file) continue;
      std::string word = part.name;
      std::replace_if(
          word.begin(), word.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '.'; }, '-');
      one.path.insert(one.path.size() - planned.form.extension.size(), "-" + word);
    }
  }
  return split;
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw std::runtime_error(fmt::format("{}: {}", path, error.message()));
}

// The inputs of all kinds, none of which may be overwritten.
std::vector<std::string> files_read(const ReportArguments& options, const std::vector<std::string>& inputs) {
  std::vector<std::string> files = inputs;
  files.insert(files.end(), options.before.begin(), options.before.end());
  files.insert(files.end(), options.report.devices.begin(), options.report.devices.end());
  files.insert(files.end(), options.stacks.fold.begin(), options.stacks.fold.end());
  files.insert(files.end(), options.report.rules.begin(), options.report.rules.end());
  return files;
}

std::vector<std::string> report_names() {
  std::vector<std::string> names;
  for (const Report& report : kReports) names.emplace_back(report.name);
  return names;
}

[[noreturn]] void refuse_report(const std::string& word) {
  throw std::runtime_error(unknown_word("report", word, report_names(), "`prof report --list` lists the reports"));
}

// A word that is no file and resembles a report is a mistyped report.
void check_inputs(const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    if (access(input.c_str(), F_OK) == 0) return;
    const bool is_name = input.find_first_of("./") == std::string::npos;
    if (is_name && (inputs.size() > 1 || !nearest_names(input, report_names()).empty())) refuse_report(input);
  }
}

// Writes stacks in the format of another tool. Returns the notes of the table.
std::vector<std::string> write_stacks_of(const ReportArguments& options, const Report& report,
                                         const AnalysisInput& input, StackFormat format, Sink& sink) {
  std::vector<std::string> notes;
  if (options.before.empty()) {
    notes = write_stack_report(input, nullptr, format, sink);
  } else {
    const std::unique_ptr<Trace> trace = read_inputs(options.before);
    const Views views(*trace, {}, options.stacks);
    Selection selection = options.selection;  // rows and processes must be those of this input
    selection.find_processes(*trace);
    selection.find_places(*trace);
    selection.find_ranges(*trace, views, options.report.captured);
    check_gpu_times(report, *trace, selection, input.options);
    const AnalysisInput before{*trace, views, selection, input.options};
    notes = write_stack_report(input, &before, format, sink);
    tell_damage(*trace);
  }
  if (!options.selection.all()) notes.push_back(options.selection.text());
  return notes;
}

// Writes an answer that is no table. Returns the notes of the report.
std::vector<std::string> write_other(const ReportArguments& options, const PlannedReport& planned,
                                     const AnalysisInput& input, Sink& sink) {
  if (groups_by_owner(input.options)) {
    throw std::runtime_error(
        fmt::format("--group-by {}: only tables have rows by rank, host, process or device; for "
                    "{} give --rank, --host, --process or --device",
                    fmt::join(input.options.group_by, ","), planned.form.name));
  }
  if (const auto format = planned.stacks()) return write_stacks_of(options, *planned.report, input, *format, sink);
  Estimates estimates(input, RowsAre::ByWork);
  exporter_named(kRooflineExporters, planned.form.name)->write(input.trace, roofline(input, estimates), sink);
  const auto notes = estimates.notes();
  return {notes.begin(), notes.end()};
}

Table finished_table(const ReportArguments& options, const PlannedReport& planned, const AnalysisInput& input,
                     TableForm form) {
  const Report& report = *planned.report;
  const ProgressLine progress("computing " + std::string(report.name));
  Table table = run_report(report, input, owners_shown(form));
  const size_t all_rows = table.rows();
  const size_t limit = options.limit.value_or(form == TableForm::Text ? table.text_limit : 0);
  if (!options.sort.empty() && !table.sort_by(options.sort, limit))
    throw std::runtime_error("--sort: " + unknown_column(table, options.sort));
  table.limit(limit);
  if (!planned.part.name.empty()) table.notes.insert(table.notes.begin(), planned.part.name);
  if (!options.selection.all()) table.notes.push_back(options.selection.text());
  if (table.rows() != all_rows) table.notes.push_back(fmt::format("first {} of {} rows", table.rows(), all_rows));
  table.coverage = coverage_line(input.trace);
  if (any_sum_saturated) table.coverage += "; sums that are too large for 64 bits are cut there";
  return table;
}

constexpr std::string_view kRanks = "ranks";

// The picture of a page with the report `ranks`; empty if there is none.
std::string picture_of_ranks(std::span<const PlannedReport> plan, const Trace& trace, const Views& views) {
  const bool any = std::any_of(plan.begin(), plan.end(), [](const PlannedReport& planned) {
    return planned.report->name == kRanks && planned.form.name == "html";
  });
  const std::shared_ptr<const RankJob> job = any ? views.derived<JobOfLogs>().job : nullptr;
  return job ? rank_steps_page(trace, *job) : std::string();
}

// Writes reports [first, last) of the plan, which share a file.
void write_file(const ReportArguments& options, std::span<const PlannedReport> plan, const Trace& trace,
                const Views& views) {
  const OutputOptions& output = options.table.output;
  const std::string& path = plan.front().path;
  Sink sink(path);
  const TableForm format = table_form(plan.front().form.name).value_or(TableForm::Text);
  const std::string picture = picture_of_ranks(plan, trace, views);
  TableDocument document(sink, format, options.table.unit, plan.size() + (picture.empty() ? 0 : 1),
                         output.terminal_columns());
  std::vector<std::string> notes;
  bool others = false;
  for (const PlannedReport& planned : plan) {
    const ReportOptions taken = taken_options(*planned.report, options.given, options.report);
    Selection selection = options.selection;
    if (!planned.part.name.empty()) selection.processes = planned.part.processes;
    const AnalysisInput input{trace, views, selection, taken};
    if (planned.is_roofline() || planned.stacks()) {
      if (plan.size() == 1) {
        notes = write_other(options, planned, input, sink);
      } else {
        std::string page;
        Sink part(&page);
        const std::vector<std::string> more = write_other(options, planned, input, part);
        notes.insert(notes.end(), more.begin(), more.end());
        part.close();
        document.add_page(planned.report->question, planned.report->name, page);
      }
      others = true;
      continue;
    }
    if (!options.before.empty()) {
      throw std::runtime_error(
          "--vs: two inputs are compared by the reports about stacks with --format folded, pprof, speedscope or html");
    }
    const Table table = finished_table(options, planned, input, format);
    if (output.terminal_columns() != 0) {
      document.add(table);
    } else {
      const ProgressLine progress("writing " + std::string(planned.report->name));
      document.add(table);
    }
  }
  if (!picture.empty()) document.add_page("Which steps took longer on which rank?", "steps", picture);
  document.close();
  sink.close();
  // A table has its notes and its coverage line in it.
  for (const std::string& note : notes) std::fprintf(stderr, "prof: %s\n", note.c_str());
  if (others) std::fprintf(stderr, "prof: %s\n", coverage_line(trace).c_str());
}

// Whether the word after a report that takes --kernel is the kernel: `prof report sass KERNEL LOG`.
bool names_kernel(const ReportArguments& options, const std::vector<const Report*>& reports,
                  const std::vector<std::string>& inputs, const std::string& word) {
  if (reports.empty() || !inputs.empty() || !options.report.kernel.empty() || word == options.words.back())
    return false;
  const std::vector<TakenOption> taken = options_of(*reports.back());
  return word.front() != '@' && access(word.c_str(), F_OK) != 0 &&
         std::any_of(taken.begin(), taken.end(), [](const TakenOption& each) { return each.flag == kKernelFlag; });
}

// Prints what makes the comparison of ranks incomplete. Returns whether there is anything.
bool tell_rank_problems(const Trace& trace, const RankJob& job) {
  const std::vector<std::string> lines = job_problems(trace, job);
  for (const std::string& line : lines) std::fprintf(stderr, "prof: %s\n", readable_lines(line).c_str());
  return !lines.empty();
}

int run_report(ReportArguments& options, const CLI::App& verb) {
  std::vector<const Report*> reports;
  std::vector<std::string> inputs;
  for (const std::string& word : options.words) {
    const Report* const report = inputs.empty() ? find_report(word) : nullptr;
    if (report != nullptr) {
      reports.push_back(report);
    } else if (names_kernel(options, reports, inputs, word)) {
      options.report.kernel = word;
      options.given.push_back({std::string(kKernelFlag), {word}});
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
  if (reports.empty()) refuse_report(options.words.front());
  for (const std::string& line : check_options(reports, options.given))
    std::fprintf(stderr, "prof: %s\n", line.c_str());
  if (inputs.empty()) throw std::runtime_error("no log or trace given");
  for (const Report* report : reports) check_selection(*report, options.selection);
  inputs = input_files(inputs);
  check_inputs(inputs);
  std::vector<PlannedReport> plan = plan_reports(reports, options.table);
  const bool each_its_file = is_folder(options.table.output.path);
  if (!options.split.empty()) check_split(plan, each_its_file);
  const std::vector<std::string> read = files_read(options, inputs);
  if (options.split.empty()) {
    for (const PlannedReport& planned : plan) check_output(planned.path, options.table.output.force, read);
  }
  if (each_its_file) make_folder(options.table.output.path);
  CategoryRules rules = read_category_rules(options.report.rules);
  const bool about_ranks =
      std::any_of(reports.begin(), reports.end(), [](const Report* report) { return report->name == kRanks; });
  const bool one_by_one = about_ranks && reports.size() == 1 &&
                          !needs_whole_model(options.selection, options.from, options.to, options.report);
  RankInputs ranks;
  if (one_by_one) {
    ranks = read_ranks(inputs, options.report);
  } else {
    ranks.trace = read_inputs(inputs);
  }
  const std::unique_ptr<Trace>& trace = ranks.trace;
  find_selection(options.selection, *trace, options.from, options.to);
  for (const Report* report : reports) {
    check_gpu_times(*report, *trace, options.selection, taken_options(*report, options.given, options.report));
  }
  const bool is_csv = plan.front().form.name == "csv";
  options.report.names = options.names.value_or(is_csv ? NameForm::Full : NameForm::Short);
  options.report.names_given = options.names.has_value();
  options.stacks.names = options.report.names;
  const Views views(*trace, std::move(rules), options.stacks);
  options.selection.find_ranges(*trace, views, options.report.captured);

  if (about_ranks) {
    if (!ranks.job) ranks.job = job_of({*trace, views, options.selection, options.report});
    views.derived<JobOfLogs>().job = ranks.job;
  }

  if (!options.split.empty()) {
    plan = split_plan(plan, owner_groups({*trace, views, options.selection, options.report}, {options.split}),
                      each_its_file);
    for (const PlannedReport& planned : plan) check_output(planned.path, options.table.output.force, read);
  }

  const std::span<const PlannedReport> all(plan);
  if (each_its_file) {
    for (size_t i = 0; i < plan.size(); ++i) write_file(options, all.subspan(i, 1), *trace, views);
  } else {
    write_file(options, all, *trace, views);
  }
  if (is_csv) std::fprintf(stderr, "prof: %s\n", coverage_line(*trace).c_str());
  const int status = tell_damage(*trace);
  const bool told = about_ranks && tell_rank_problems(*trace, *ranks.job);
  return told ? std::max<int>(status, kPartial) : status;
}

}  // namespace

void add_report(CLI::App& app, Run& run) {
  CLI::App* const verb = app.add_subcommand("report", "print tables that answer questions; without a name, list them");
  const auto options = std::make_shared<ReportArguments>();
  verb->set_help_flag();
  verb->add_flag("-h,--help", options->help, "print this, or after report names what these reports take and show");
  verb->add_option("NAMES-AND-FILES", options->words,
                   "report names, then logs, traces of other tools, folders of them, @list");
  verb->add_flag("--list", options->list, "list the reports by question");
  add_names_option(*verb, options->names_given);
  options->table.add_to(*verb, all_report_forms());
  add_window_options(*verb, options->from, options->to);
  verb->add_option("--sort", options->sort, "column; -COLUMN sorts descending (write --sort=-COLUMN)");
  verb->add_option("--limit", options->limit, "most rows; 0: all")->check(whole_number(0))->option_text("N");
  verb->add_option("--split", options->split, "a table of its own for each rank, host or process")
      ->check(one_of({"rank", "host", "process"}));
  add_place_options(*verb, options->selection);
  add_list(*verb, "--stream", options->selection.streams, "stream numbers", "N,...")->check(whole_number(0));
  add_list(*verb, "--thread", options->selection.threads, "system thread ids", "N,...")->check(whole_number(0));
  add_nvtx_option(*verb, options->selection);
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
