#include "analyzer/output/diff_page.h"

#include "analyzer/output/stacks/stack_formats.h"
#include "analyzer/table/html_text.h"
#include "analyzer/table/table_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace prof::analyzer {

namespace {

constexpr size_t kMostRows = 500;

std::string time_cell(double ns, bool with_sign) {
  const std::string text = scaled_time(std::llround(std::abs(ns)));
  return fmt::format("<td>{}{}</td>", ns < 0 ? "-" : with_sign ? "+" : "", text);
}

std::string row_of(const DiffRow& row, NameForm names) {
  const std::string_view verdict = verdict_name(row.verdict);
  const char* const color = row.verdict == Verdict::Slower || row.verdict == Verdict::Added      ? "#c0392b"
                            : row.verdict == Verdict::Faster || row.verdict == Verdict::Vanished ? "#1e8449"
                                                                                                 : "inherit";
  std::string html = fmt::format("<tr><td class=\"text\" style=\"color:{}\">{}</td><td>{:g}</td><td>{:g}</td>", color,
                                 verdict, row.before.launches_a_run(), row.now.launches_a_run());
  html += time_cell(row.before.ns_a_run(), false) + time_cell(row.now.ns_a_run(), false);
  html += time_cell(row.delta_ns, true) + time_cell(row.count_effect_ns, true) + time_cell(row.speed_effect_ns, true);
  const std::optional<double> speed = row.speed_percent();
  html += fmt::format("<td>{}</td><td>{}</td>", speed ? fmt::format("{:+.2f} %", *speed) : "",
                      row.false_discovery ? fmt::format("{:.4f}", *row.false_discovery) : "");
  return html + fmt::format("<td class=\"text\">{}</td><td class=\"text\">{}</td><td class=\"text\">{}</td></tr>\n",
                            in_html(diff_name(row.name, names)), in_html(row.launch_shape), in_html(row.path));
}

}  // namespace

void write_diff_page(const DiffAnswer& answer, Sink& sink) {
  const RunDiff& diff = answer.diff;
  const DiffLabels& labels = answer.labels;
  const std::string now = in_html(labels.now), before = in_html(labels.before);
  write_page_head(fmt::format("{} against {}", labels.now, labels.before), sink);
  const Table table = diff_table(answer);
  for (const std::string& note : table.notes) sink.write(fmt::format("<p>{}</p>\n", in_html(note)));
  sink.write("<pre class=\"scroll\" tabindex=\"0\">\n");
  for (const std::string& line : table.footers) sink.write(in_html(line) + "\n");
  sink.write(
      "</pre>\n<div class=\"scroll\" tabindex=\"0\"><table id=\"rows\"><thead><tr><th class=\"text\">Verdict</th>");
  for (const std::string& title :
       {before + " Count", now + " Count", before + " Total", now + " Total", std::string("Delta"),
        std::string("By count"), std::string("By speed"), std::string("Mean"), std::string("FDR")})
    sink.write(fmt::format("<th>{}</th>", title));
  for (const std::string_view title : {"Name", "Grid, block", "Path"})
    sink.write(fmt::format("<th class=\"text\">{}</th>", title));
  sink.write("</tr></thead><tbody>\n");
  for (size_t r = 0; r < std::min(diff.rows.size(), kMostRows); ++r) sink.write(row_of(diff.rows[r], answer.names));
  sink.write("</tbody></table></div>\n");
  if (diff.rows.size() > kMostRows)
    sink.write(fmt::format("<p>first {} of {} rows</p>\n", kMostRows, diff.rows.size()));
  if (answer.flame != nullptr) {
    std::string page;
    Sink inner(&page);
    StackFileInfo info;
    info.title = fmt::format("{} against {}", labels.now, labels.before);
    write_flame_page(*answer.flame, info, inner);
    inner.close();
    write_page_in_page("GPU time by call stack", "flame", page, sink);
  }
  write_page_end(sink);
}

}  // namespace prof::analyzer
