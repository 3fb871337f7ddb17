// prof diff NEW… --vs OLD…: what changed between two sides of runs, by how much, and is it significant? Each input
// is a run. Inputs are read one after the other, so that recordings that do not fit into memory together can be
// compared.
#include "analyzer/analysis/diff/run_diff.h"
#include "analyzer/analysis/stacks/stack_tree.h"
#include "analyzer/base/sink.h"
#include "analyzer/command/command.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/symbol_options.h"
#include "analyzer/command/table_options.h"
#include "analyzer/output/diff_table.h"
#include "analyzer/output/exporters.h"
#include "analyzer/reports/gpu_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

namespace prof::analyzer {

namespace {

struct DiffArguments {
  std::vector<std::string> now, before, labels, fail_if;
  TableOptions table;
  NameForm names = NameForm::Short;
  bool side_by_side = false;
  std::string sort;
  size_t limit = 0;
  ReportOptions report;
  StackOptions stacks;
};

// "slower:3%": which number may grow, and by how much.
struct FailIf {
  std::string what;
  double percent = 0;
};

FailIf parse_fail_if(const std::string& word) {
  const size_t colon = word.find(':');
  FailIf rule;
  rule.what = word.substr(0, colon);
  const bool known = rule.what == "slower" || rule.what == "busy" || rule.what == "wall";
  const char* const first = colon == std::string::npos ? nullptr : word.c_str() + colon + 1;
  const char* const last = word.c_str() + word.size();
  if (first != nullptr) {
    const auto [end, error] = std::from_chars(first, last, rule.percent);
    const bool whole = error == std::errc() && (end == last || (*end == '%' && end + 1 == last));
    if (known && whole && rule.percent >= 0 && rule.percent < 1e6) return rule;
  }
  throw std::runtime_error(
      fmt::format("--fail-if '{}': slower:P%, busy:P% and wall:P% are allowed, P a number of 0 and above", word));
}

// The finding of a rule, for stderr; nothing if the rule is not met.
std::optional<std::string> met(const FailIf& rule, const RunDiff& diff) {
  if (rule.what == "slower") {
    size_t rows = 0;
    const DiffRow* worst = nullptr;
    for (const DiffRow& row : diff.rows) {
      if (row.verdict != Verdict::Slower || row.speed_percent().value_or(0) < rule.percent) continue;
      ++rows;
      if (worst == nullptr) worst = &row;
    }
    if (worst == nullptr) return std::nullopt;
    return fmt::format("{} row{} slower by {:g} % and more, first {} ({:+.2f} %)", rows, rows == 1 ? "" : "s",
                       rule.percent, diff_name(worst->name, NameForm::Short), *worst->speed_percent());
  }
  for (const DiffTotal& total : diff.totals) {
    if (total.name != rule.what || total.before_ns <= 0) continue;
    const double percent = 100 * total.delta_ns() / total.before_ns;
    if (percent >= rule.percent && total.delta_ns() > 0)
      return fmt::format("{} time grew by {:.2f} %", total.name, percent);
  }
  return std::nullopt;
}

struct Side {
  std::vector<RunWork> runs;
  std::unique_ptr<const StackTree> stacks;  // of the first run, for an HTML page
};

// A run may be a folder. All its logs belong to one program, as `prof record --output FOLDER` writes them.
std::vector<std::string> files_of(const std::string& input) {
  if (!std::filesystem::is_directory(input)) return {input};
  std::vector<std::string> files;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(input)) {
    if (entry.is_regular_file() && entry.path().extension() == ".plog") files.push_back(entry.path().string());
  }
  if (files.empty()) throw std::runtime_error(fmt::format("{}: a folder without logs (*.plog)", input));
  std::sort(files.begin(), files.end());
  return files;
}

Side read_side(const DiffArguments& options, const std::vector<std::string>& files, bool with_stacks, int& status) {
  Side side;
  for (const std::string& file : files) {
    const std::unique_ptr<Trace> trace = read_inputs(files_of(file));
    need_all_times("diff", *trace);
    const Views views(*trace, {}, options.stacks);
    const Selection everything;
    const AnalysisInput input{*trace, views, everything, options.report};
    side.runs.push_back(run_rows(input, file, options.side_by_side));
    if (with_stacks && side.stacks == nullptr)
      side.stacks = std::make_unique<const StackTree>(stack_tree(input, StackMetric::GpuTime));
    std::fprintf(stderr, "prof: %s: %s\n", file.c_str(), coverage_line(*trace).c_str());
    status = std::max(status, tell_damage(*trace));
  }
  return side;
}

void write_rows(const DiffArguments& options, const RunDiff& diff, const DiffLabels& labels, Sink& sink) {
  Table table =
      options.side_by_side ? side_by_side_table(diff, labels, options.names) : diff_table(diff, labels, options.names);
  const size_t rows = table.rows();
  if (!options.sort.empty() && !table.sort_by(options.sort, options.limit)) {
    std::string keys;
    for (const TableColumn& column : table.columns()) keys += (keys.empty() ? "" : ", ") + column.key;
    throw std::runtime_error(fmt::format("--sort: there is no column '{}'; there are: {}", options.sort, keys));
  }
  if (options.limit != 0) table.limit(options.limit);
  if (table.rows() != rows) table.notes.push_back(fmt::format("first {} of {} rows", table.rows(), rows));
  table.coverage = fmt::format("rows {}, on both sides {}", rows,
                               std::count_if(diff.rows.begin(), diff.rows.end(), [](const DiffRow& row) {
                                 return row.now.launches != 0 && row.before.launches != 0;
                               }));
  write_table(table, options.table.format, options.table.unit, sink);
}

int run_diff_verb(const DiffArguments& options) {
  ignore_broken_pipes();
  std::vector<FailIf> rules;
  for (const std::string& word : options.fail_if) rules.push_back(parse_fail_if(word));
  DiffLabels labels;
  if (!options.labels.empty() && options.labels.size() != 2) throw std::runtime_error("--label: two names, NEW,OLD");
  if (options.labels.size() == 2) labels = {options.labels[0], options.labels[1]};
  const auto* const page = exporter_of_file(kDiffExporters, options.table.output);
  int status = kComplete;
  Side before = read_side(options, options.before, page != nullptr, status);
  Side now = read_side(options, options.now, page != nullptr, status);
  const RunDiff diff = run_diff(std::move(now.runs), std::move(before.runs));
  Sink sink(options.table.output);
  if (page != nullptr) {
    const CallTree both = compare_trees(now.stacks->tree, before.stacks->tree);
    page->write(diff, labels, options.names, both.nodes().size() > 1 ? &both : nullptr, sink);
  } else {
    write_rows(options, diff, labels, sink);
  }
  sink.close();
  for (const FailIf& rule : rules) {
    const std::optional<std::string> found = met(rule, diff);
    if (!found) continue;
    std::fprintf(stderr, "prof: --fail-if %s: %s\n", rule.what.c_str(), found->c_str());
    status = kFailedIf;
  }
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
  verb->add_option("--fail-if", options->fail_if,
                   "exit with 3 if a row's mean (slower:3%), or busy or wall time (busy:3%, wall:3%) grew by so much")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->option_text("WHAT:P%");
  verb->add_flag("--side-by-side", options->side_by_side, "counts, rates and shares of the peaks of both sides");
  verb->add_option("--sort", options->sort, "column; -COLUMN sorts descending (write --sort=-COLUMN)");
  verb->add_option("--limit", options->limit, "most rows");
  verb->add_option(
          "--devices", options->report.devices,
          "file of peaks of GPUs, looked at before the built-in ones; measured: those of `prof devices --measure`")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->option_text("FILE");
  verb->add_option("--dtype", options->report.dtype, "type of elements where a trace has none")
      ->check(CLI::IsMember({"fp64", "fp32", "fp16", "bf16", "fp8", "int8"}))
      ->option_text("TYPE");
  add_names_option(*verb, options->names);
  options->table.add_to(*verb);
  add_symbol_options(*verb, options->stacks);
  verb->callback([options, &run] { run = [options] { return run_diff_verb(*options); }; });
}

}  // namespace prof::analyzer
