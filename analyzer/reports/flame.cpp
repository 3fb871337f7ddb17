// flame: the tree of call stacks with each branch's share of a metric. The table shows branches of at least half a
// percent, indented below their callers. With `-o FILE.html` the whole tree becomes a page
// (output/stacks/flame_page.cpp).
#include "analyzer/analysis/stacks/stack_tree.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace prof::analyzer {

Table report_flame(const AnalysisInput& input) {
  constexpr int64_t kSmallestShare = 200;  // 1/200 of the total
  const StackTree answer = stack_tree(input, stack_metric(input.options.metric));
  const CallTree& tree = answer.tree;
  const CellType type = tree.unit == "nanoseconds" ? CellType::Nanoseconds : CellType::Count;
  Table table("flame", fmt::format("{} by call tree", tree.metric));
  table.add_column(ColumnId::total, type);
  answer.add_half_column(table, ColumnId::total_half_width);
  table.add_column(ColumnId::total_percent);
  table.add_column(ColumnId::self, type);
  table.add_columns({ColumnId::depth, ColumnId::frame});
  const std::vector<int64_t> totals = tree.totals();
  std::vector<std::vector<uint32_t>> children(tree.nodes().size());
  const std::vector<std::vector<uint32_t>> below = answer.groups_below();
  uint64_t left_out = 0;
  for (uint32_t n = 1; n < tree.nodes().size(); ++n) {
    const bool shown = totals[n] > 0 && totals[n] >= totals[0] / kSmallestShare;
    if (shown) {
      children[tree.nodes()[n].parent].push_back(n);
    } else {
      void(++left_out);
    }
  }
  for (std::vector<uint32_t>& each : children)
    std::stable_sort(each.begin(), each.end(), [&](uint32_t a, uint32_t b) { return totals[a] < totals[b]; });
  std::vector<std::pair<uint32_t, uint32_t>> open;  // node, depth
  for (const uint32_t n : children[0]) open.emplace_back(n, 0);
  while (!open.empty()) {
    const auto [n, depth] = open.back();
    open.pop_back();
    const std::string text =
        std::string(2 * std::min<size_t>(depth, 60), ' ') + tree_frame_text(tree, tree.frames()[tree.nodes()[n].frame]);
    Table::Row row = table.row();
    row.add(totals[n]);
    if (answer.estimated()) answer.add_half_cell(row, below[n]);
    row.add(100 * static_cast<double>(totals[n]) / static_cast<double>(totals[0]));
    row.add(tree.nodes()[n].value).add(depth).add(std::string_view(text));
    for (const uint32_t child : children[n]) open.emplace_back(child, depth + 1);
  }
  if (left_out != 0)
    table.notes.push_back(fmt::format("{} branches of less than 0.5 % left out; -o FILE.html has all", left_out));
  table.notes.insert(table.notes.end(), answer.notes.begin(), answer.notes.end());
  return table;
}

}  // namespace prof::analyzer
