#include "analyzer/output/page/rank_page.h"

#include "analyzer/base/json/json_text.h"
#include "analyzer/base/sink.h"
#include "analyzer/model/process_names.h"
#include "analyzer/table/html_text.h"
#include "analyzer/table/table_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace prof::analyzer {

namespace {

constexpr size_t kMostColumns = 960;

// The mean own time of the steps of a column; nothing if a rank has none of them.
struct Cells {
  size_t columns = 0;
  std::vector<double> sums, counts;  // row by row
};

}  // namespace

std::string rank_steps_json(const Trace& trace, const RankJob& job, size_t most_cells,
                            const std::function<std::string(std::string_view)>& name_json) {
  std::vector<const RankSums*> rows;
  int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
  for (const RankRow& row : job.rows()) {
    const RankSums& sums = row.sums;
    if (sums.steps == 0 || sums.own_step_ns.empty() || rows.size() == most_cells) continue;
    rows.push_back(&sums);
    first = std::min(first, sums.first_step);
    last = std::max(last, sums.first_step + static_cast<int64_t>(sums.steps));
  }
  if (rows.size() < 2 || last <= first) return "null";
  const size_t most_columns = std::max<size_t>(1, std::min(kMostColumns, most_cells / rows.size()));
  uint64_t steps = 1;
  for (const RankSums* const row : rows) steps = std::max(steps, row->steps_a_number);
  while (static_cast<uint64_t>(last - first) / steps >= most_columns) steps *= 2;
  Cells cells;
  cells.columns = static_cast<size_t>(static_cast<uint64_t>(last - first - 1) / steps + 1);
  cells.sums.resize(rows.size() * cells.columns);
  cells.counts.resize(cells.sums.size());
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < rows[r]->own_step_ns.size(); ++i) {
      const auto step = static_cast<uint64_t>(rows[r]->first_step - first) + i * rows[r]->steps_a_number;
      const size_t column = std::min(cells.columns - 1, static_cast<size_t>(step / steps));
      cells.sums[r * cells.columns + column] += static_cast<double>(rows[r]->own_step_ns[i]);
      ++cells.counts[r * cells.columns + column];
    }
  }
  std::vector<double> medians(cells.columns, 1);
  for (size_t column = 0; column < cells.columns; ++column) {
    std::vector<double> values;
    for (size_t r = 0; r < rows.size(); ++r) {
      const size_t at = r * cells.columns + column;
      if (cells.counts[at] > 0) values.push_back(cells.sums[at] / cells.counts[at]);
    }
    const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (middle != values.end()) medians[column] = std::max(1.0, *middle);
  }
  const std::vector<std::string> names = process_names(trace);
  std::string json = "{\"ranks\":[";
  for (const RankSums* const row : rows) json += (row == rows.front() ? "" : ",") + name_json(names[row->process]);
  json += fmt::format("],\"first\":{},\"steps\":{},\"columns\":{},\"median\":[", first, steps, cells.columns);
  for (size_t column = 0; column < cells.columns; ++column)
    json += fmt::format("{}{:.0f}", column == 0 ? "" : ",", medians[column]);
  json += "],\"cells\":[";
  for (size_t at = 0; at < cells.sums.size(); ++at) {
    const double share = cells.counts[at] > 0 ? cells.sums[at] / cells.counts[at] / medians[at % cells.columns] : 0;
    json += fmt::format("{}{}", at == 0 ? "" : ",",
                        cells.counts[at] > 0 ? std::lround(1000 * std::min(share, 1000.0)) : -1);
  }
  return json + "]}";
}

std::string rank_steps_page(const Trace& trace, const RankJob& job) {
  constexpr size_t kMostCells = 1'000'000;
  const std::string json = rank_steps_json(trace, job, kMostCells, json_string);
  if (json == "null") return {};
  std::string page;
  Sink sink(&page);
  write_page_head("Ranks and steps", sink);
  sink.write(
      "<p>A row is a rank, a column a step. Red: the rank needs longer than the median rank in that step, without "
      "exposed communication; blue: shorter; the deepest colours are 30 % and more. Grey: not in the input.</p>\n"
      "<p><output id=\"said\">Point at a cell, or use the arrow keys.</output></p>\n<canvas id=\"steps-canvas\" "
      "tabindex=\"0\" role=\"application\" aria-label=\"ranks and steps; arrow keys select a step\"></canvas>\n");
  sink.write("<script id=\"steps-data\" type=\"application/json\">" + in_script(json) + "</script>\n");
  write_page_end(sink);
  sink.close();
  return page;
}

}  // namespace prof::analyzer
