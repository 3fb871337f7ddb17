#include "analyzer/output/diff_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace prof::analyzer {

namespace {

std::string signed_time(double ns) {
  return fmt::format("{}{}", ns < 0 ? "-" : "+", scaled_time(std::llround(std::abs(ns))));
}

std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name.empty() ? "(no name)" : name);
  return text.empty() ? "none" : text;
}

// One row a rule of --fail-if.
Table gate_table(const std::vector<GateVerdict>& verdicts) {
  Table table("rules", "Rules of --fail-if");
  table.add_columns({ColumnId::gate_status, ColumnId::gate_rule, ColumnId::change_percent, ColumnId::change_low_percent,
                     ColumnId::change_high_percent, ColumnId::tested, ColumnId::failing, ColumnId::undecided,
                     ColumnId::gate_reason});
  for (const GateVerdict& each : verdicts) {
    Table::Row row = table.row();
    row.add(gate_status_name(each.status)).add(std::string_view(each.rule.text));
    row.add(each.change_percent).add(each.low_percent).add(each.high_percent);
    row.add(each.tested).add(each.failing).add(each.open).add(std::string_view(each.reason));
  }
  return table;
}

// Adds a column of the catalogue for one side: "old.plog Count", count_before.
void add_side_column(Table& table, ColumnId column, const std::string& label, std::string_view side, CellType type) {
  const ColumnInfo& info = column_info(column);
  table.add_named_column(column, fmt::format("{} {}", label, info.title()), fmt::format("{}_{}", info.key, side), type,
                         type == info.type ? info.decimals : 1);
}
void add_side_columns(Table& table, ColumnId column, const DiffLabels& labels, CellType type) {
  add_side_column(table, column, labels.before, "before", type);
  add_side_column(table, column, labels.now, "now", type);
}

// Source lines inside kernels whose time in one launch changed by enough. Times are estimates from PC samples.
Table lines_table(const DiffAnswer& answer, std::vector<std::string>& notes) {
  const RunDiff& diff = answer.diff;
  Table table("lines", "Source lines inside kernels, from PC samples");
  table.add_column(ColumnId::verdict);
  add_side_columns(table, ColumnId::pc_samples, answer.labels, CellType::Count);
  add_side_columns(table, ColumnId::line_time, answer.labels, CellType::MeanNanoseconds);
  add_side_columns(table, ColumnId::mean, answer.labels, CellType::MeanNanoseconds);
  table.add_column(ColumnId::speed_effect, CellType::MeanNanoseconds);
  table.add_columns({ColumnId::speed_percent, ColumnId::p, ColumnId::false_discovery_rate, ColumnId::source,
                     ColumnId::function, ColumnId::kernel});
  size_t same = 0;
  for (const LineDiffRow& each : diff.lines) {
    const Verdict verdict = line_verdict(each, diff.totals[2].before_ns);
    if (verdict == Verdict::Same) {
      ++same;
      continue;
    }
    const double before_ns = each.before.mean_ns.value_or(0);
    Table::Row row = table.row();
    row.add(verdict_name(verdict)).add(each.before.samples).add(each.now.samples);
    row.add(each.before.ns_a_run).add(each.now.ns_a_run).add(each.before.mean_ns).add(each.now.mean_ns);
    row.add(each.effect_ns());
    row.add(before_ns > 0 ? std::optional(100 * (each.now.mean_ns.value_or(0) - before_ns) / before_ns) : std::nullopt);
    row.add(each.p).add(each.false_discovery).add(each.place);
    row.add_text(diff_name(each.function, answer.names)).add(diff_name(each.kernel, answer.names));
  }
  notes.insert(notes.end(), diff.lines_coverage.begin(), diff.lines_coverage.end());
  notes.push_back(fmt::format(
      "lines: {} of {} are the same, or their kernel has PC samples on one side only; Mean is in one launch of the "
      "kernel; tested: {}",
      same, diff.lines.size(),
      diff.between_runs ? "runs, by Welch's t test" : "blocks of readings of samples, by the Mann-Whitney test"));
  return table;
}

std::string how_tested(const RunDiff& diff) {
  if (diff.between_runs) return "verdicts between runs: Welch's t test of the medians of runs, 5 % false discoveries";
  return fmt::format(
      "verdicts within one run only: Mann-Whitney test of the medians of {}, 5 % false discoveries; three runs a side "
      "are "
      "needed to tell a change of the program from a change of the day",
      diff.steps.empty() ? "blocks of launches" : fmt::format("steps ({})", diff.steps));
}

void add_notes(const DiffAnswer& answer, Table& table) {
  const RunDiff& diff = answer.diff;
  const DiffLabels& labels = answer.labels;
  const auto runs = [](size_t count) { return fmt::format("{} run{}", count, count == 1 ? "" : "s"); };
  table.notes.push_back(fmt::format("{}: {} on {}; {}: {} on {}", labels.before, runs(diff.runs_before),
                                    joined_names(diff.devices_before), labels.now, runs(diff.runs_now),
                                    joined_names(diff.devices_now)));
  if (diff.devices_before != diff.devices_now) table.notes.push_back("the devices differ");
  table.notes.push_back(how_tested(diff));
  std::string folded = folded_note(diff.folded);
  if (!folded.empty()) table.notes.push_back(std::move(folded));
  if (!answer.verdicts.empty()) table.parts.push_back(gate_table(answer.verdicts));
  if (!diff.lines.empty()) table.parts.push_back(lines_table(answer, table.notes));
  table.footers = diff_totals(diff, labels);
}

class DiffCells {
 public:
  explicit DiffCells(const RunDiff& diff) : whole_(diff.runs_now == 1 && diff.runs_before == 1) {}
  CellType time() const { return whole_ ? CellType::Nanoseconds : CellType::MeanNanoseconds; }
  CellType count() const { return whole_ ? CellType::Count : CellType::Real; }
  void add_time(Table::Row& row, double ns) const {
    if (whole_) {
      row.add(int64_t{std::llround(ns)});
    } else {
      row.add(ns);
    }
  }
  void add_count(Table::Row& row, double count) const {
    if (whole_) {
      row.add(int64_t{std::llround(count)});
    } else {
      row.add(count);
    }
  }

 private:
  bool whole_;  // with one run per side, times and counts are integers
};

}  // namespace

std::string diff_name(const std::string& name, NameForm form) {
  if (form != NameForm::Short) return name;
  const size_t arrow = name.find(" -> ");
  if (arrow == std::string::npos) return short_function_name(name);
  return short_function_name(name.substr(0, arrow)) + " -> " + short_function_name(name.substr(arrow + 4));
}

std::vector<std::string> diff_totals(const RunDiff& diff, const DiffLabels& labels) {
  double count_ns = 0, speed_ns = 0, alone_ns = 0;
  for (const DiffRow& row : diff.rows) {
    const bool alone = row.now.launches == 0 || row.before.launches == 0;
    (alone ? alone_ns : count_ns) += row.count_effect_ns;
    speed_ns += row.speed_effect_ns;
  }
  std::vector<std::string> lines;
  for (const DiffTotal& total : diff.totals) {
    std::string line = fmt::format("{:<13} {} {}, {} {}, {}", total.name + ":", labels.before,
                                   scaled_time(std::llround(total.before_ns)), labels.now,
                                   scaled_time(std::llround(total.now_ns)), signed_time(total.delta_ns()));
    if (total.before_ns > 0) line += fmt::format(" ({:+.2f} %)", 100 * total.delta_ns() / total.before_ns);
    if (&total == &diff.totals.front())
      line += fmt::format(" = {} launches {} speed {} added and vanished", signed_time(count_ns), signed_time(speed_ns),
                          signed_time(alone_ns));
    lines.push_back(line);
  }
  return lines;
}

Table diff_table(const DiffAnswer& answer) {
  const RunDiff& diff = answer.diff;
  const DiffLabels& labels = answer.labels;
  const DiffCells cells(diff);
  Table table("diff", fmt::format("{} against {}", labels.now, labels.before));
  table.add_column(ColumnId::verdict);
  add_side_columns(table, ColumnId::count, labels, cells.count());
  add_side_columns(table, ColumnId::total, labels, cells.time());
  add_side_columns(table, ColumnId::mean, labels, CellType::MeanNanoseconds);
  table.add_column(ColumnId::delta, cells.time());
  table.add_column(ColumnId::count_effect, cells.time());
  table.add_column(ColumnId::speed_effect, cells.time());
  table.add_columns({ColumnId::speed_percent, ColumnId::p, ColumnId::false_discovery_rate, ColumnId::name,
                     ColumnId::launch_shape, ColumnId::path, ColumnId::shapes});
  for (const DiffRow& each : diff.rows) {
    Table::Row row = table.row();
    const auto real = [&](std::optional<double> value) { row.add(value); };
    const auto text = [&](const std::string& value) { row.add_text(value); };
    row.add(verdict_name(each.verdict));
    cells.add_count(row, each.before.launches_a_run());
    cells.add_count(row, each.now.launches_a_run());
    cells.add_time(row, each.before.ns_a_run());
    cells.add_time(row, each.now.ns_a_run());
    real(each.before.mean_ns());
    real(each.now.mean_ns());
    cells.add_time(row, each.delta_ns);
    cells.add_time(row, each.count_effect_ns);
    cells.add_time(row, each.speed_effect_ns);
    real(each.speed_percent());
    real(each.p);
    real(each.false_discovery);
    text(diff_name(each.name, answer.names));
    text(each.launch_shape);
    text(each.path);
    text(each.op_shape);
  }
  add_notes(answer, table);
  return table;
}

Table side_by_side_table(const DiffAnswer& answer) {
  const RunDiff& diff = answer.diff;
  const DiffLabels& labels = answer.labels;
  Table table("diff", fmt::format("{} beside {}", labels.before, labels.now));
  table.add_column(ColumnId::name);
  for (const auto& [label, key] : {std::pair{labels.before, "before"}, {labels.now, "now"}}) {
    for (const ColumnId column : {ColumnId::count, ColumnId::tflops, ColumnId::gb_per_s, ColumnId::mean,
                                  ColumnId::flops_percent, ColumnId::bandwidth_percent})
      add_side_column(table, column, label, key, column_info(column).type);
  }
  table.add_column(ColumnId::path);
  for (const DiffRow& each : diff.rows) {
    Table::Row row = table.row();
    const auto real = [&](std::optional<double> value) { row.add(value); };
    row.add(std::string_view(diff_name(each.name, answer.names)));
    for (const DiffSide* const side : {&each.before, &each.now}) {
      if (side->launches == 0) {
        row.empty();
      } else {
        row.add(side->launches);
      }
      real(side->sums.tera_flops());
      real(side->sums.giga_bytes());
      real(side->mean_ns());
      real(side->sums.flops_percent());
      real(side->sums.bytes_percent());
    }
    row.add_text(each.path);
  }
  add_notes(answer, table);
  return table;
}

}  // namespace prof::analyzer
