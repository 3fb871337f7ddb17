#include "analyzer/output/gate_report.h"

#include "analyzer/base/json/json_text.h"
#include "analyzer/table/html_text.h"
#include "analyzer/table/markdown_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace prof::analyzer {

namespace {

constexpr size_t kLongestCell = 120;  // characters of a name in Markdown

std::string in_markdown_cell(std::string_view text) { return in_markdown(text, kLongestCell); }

std::string percent_or_dash(const std::optional<double>& percent) {
  return percent ? fmt::format("{:+.2f} %", *percent) : "–";
}

size_t count_of(const DiffAnswer& answer, GateStatus status) {
  return static_cast<size_t>(std::count_if(answer.verdicts.begin(), answer.verdicts.end(),
                                           [&](const GateVerdict& each) { return each.status == status; }));
}

std::string outcome(const DiffAnswer& answer) {
  const size_t failed = count_of(answer, GateStatus::Failed), undecided = count_of(answer, GateStatus::Undecided);
  if (answer.verdicts.empty()) return "no rules";
  if (failed != 0) return fmt::format("failed: {} of {} rules", failed, answer.verdicts.size());
  if (undecided != 0) return fmt::format("undecided: {} of {} rules", undecided, answer.verdicts.size());
  return fmt::format("passed: {} rule{}", answer.verdicts.size(), answer.verdicts.size() == 1 ? "" : "s");
}

void write_rules(const DiffAnswer& answer, Sink& sink) {
  if (answer.verdicts.empty()) return;
  sink.write("| status | rule | change | 99 % interval | reason |\n|---|---|---|---|---|\n");
  for (const GateVerdict& each : answer.verdicts) {
    const std::string interval =
        each.low_percent ? fmt::format("{:+.2f} to {:+.2f} %", *each.low_percent, *each.high_percent) : "–";
    sink.write(fmt::format("| {} | {} | {} | {} | {} |\n", gate_status_name(each.status),
                           in_markdown_cell(each.rule.text), percent_or_dash(each.change_percent), interval,
                           in_markdown_cell(each.reason)));
  }
  sink.write("\n");
}

void write_changed_rows(const DiffAnswer& answer, Sink& sink) {
  std::vector<const DiffRow*> changed;
  for (const DiffRow& row : answer.diff.rows) {
    if (row.verdict != Verdict::Same && row.verdict != Verdict::Noise && row.verdict != Verdict::Untested)
      changed.push_back(&row);
  }
  if (changed.empty()) {
    sink.write("No row changed.\n\n");
    return;
  }
  sink.write("| verdict | kernel | path | before | now | change | difference |\n|---|---|---|--:|--:|--:|--:|\n");
  const auto time = [](double ns) { return scaled_time(std::llround(ns)); };
  for (size_t i = 0; i < std::min(changed.size(), kMostMarkdownRows); ++i) {
    const DiffRow& row = *changed[i];
    sink.write(fmt::format("| {} | {} | {} | {} | {} | {} | {}{} |\n", verdict_name(row.verdict),
                           in_markdown_cell(diff_name(row.name, answer.names)), in_markdown_cell(row.path),
                           time(row.before.ns_a_run()), time(row.now.ns_a_run()), percent_or_dash(row.speed_percent()),
                           row.delta_ns < 0 ? "-" : "+", time(std::abs(row.delta_ns))));
  }
  if (changed.size() > kMostMarkdownRows)
    sink.write(fmt::format("\nfirst {} of {} rows that changed\n", kMostMarkdownRows, changed.size()));
  sink.write("\n");
}

}  // namespace

void write_gate_markdown(const DiffAnswer& answer, Sink& sink) {
  sink.write(fmt::format("### GPU time, {} against {}: {}\n\n", in_markdown_cell(answer.labels.now),
                         in_markdown_cell(answer.labels.before), outcome(answer)));
  write_rules(answer, sink);
  write_changed_rows(answer, sink);
  sink.write("<details><summary>Totals, inputs and coverage</summary>\n\n<pre>\n");
  for (const std::string& line : diff_totals(answer.diff, answer.labels)) sink.write(in_html(line) + "\n");
  for (const std::string& note : diff_table(answer).notes) sink.write(in_html(note) + "\n");
  for (const std::string& line : answer.coverage) sink.write(in_html(line) + "\n");
  sink.write("</pre>\n\n</details>\n");
}

void write_gate_junit(const DiffAnswer& answer, Sink& sink) {
  sink.write(fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"prof diff\" "
      "tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
      answer.verdicts.size(), count_of(answer, GateStatus::Failed), count_of(answer, GateStatus::Undecided)));
  for (const GateVerdict& each : answer.verdicts) {
    sink.write(fmt::format("<testcase classname=\"prof.diff\" name=\"{}\">", in_html(each.rule.text)));
    const char* const element = each.status == GateStatus::Failed ? "failure" : "error";
    if (each.status == GateStatus::Passed) {
      sink.write(fmt::format("<system-out>{}</system-out>", in_html(each.reason)));
    } else {
      sink.write(fmt::format("<{0} type=\"{1}\" message=\"{2}\"/>", element, gate_status_name(each.status),
                             in_html(each.reason)));
    }
    sink.write("</testcase>\n");
  }
  std::string coverage;
  for (const std::string& line : answer.coverage) coverage += in_html(line) + "\n";
  sink.write(fmt::format("<system-out>{}</system-out>\n</testsuite>\n</testsuites>\n", coverage));
}

}  // namespace prof::analyzer
