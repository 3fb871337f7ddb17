// stacks: a metric by call stack. A row is one stack with its value, the largest first. `--format folded`, pprof,
// speedscope and html write the same tree in the formats of other tools. With the metrics of torch.autograd.profiler a
// row is one operator, as in its export_stacks().
#include "analyzer/analysis/stacks/stack_tree.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace prof::analyzer {

namespace {

CellType cell_of(const CallTree& tree) { return tree.unit == "nanoseconds" ? CellType::Nanoseconds : CellType::Count; }

Table torch_table(const AnalysisInput& input) {
  Table table("stacks", "Operators with their Python stack, as torch.autograd.profiler exports them");
  table.add_columns({ColumnId::time, ColumnId::stack});
  for (const ExportedStack& each : exported_stacks(input, input.options.metric)) {
    std::string text;
    for (size_t i = each.frames.size(); i-- > 0;) text.append(each.frames[i]).append(i == 0 ? "" : ";");
    table.row().add(each.time_ns).add(std::string_view(text));
  }
  table.notes.push_back(fmt::format(
      "metric: {}; one row an operator in order of begin, from the outermost frame inwards", input.options.metric));
  table.text_limit = 50;
  return table;
}

}  // namespace

Table report_stacks(const AnalysisInput& input) {
  if (is_torch_metric(input.options.metric)) return torch_table(input);
  const StackTree answer = stack_tree(input, stack_metric(input.options.metric));
  const CallTree& tree = answer.tree;
  Table table("stacks", fmt::format("{} by call stack", tree.metric));
  table.add_column(ColumnId::value, cell_of(tree));
  answer.add_half_column(table, ColumnId::value_half_width);
  table.add_columns({ColumnId::share_percent, ColumnId::count, ColumnId::stack});
  std::vector<uint32_t> rows;
  int64_t all = 0;
  for (uint32_t n = 1; n < tree.nodes().size(); ++n) {
    if (tree.nodes()[n].count == 0) continue;
    rows.push_back(n);
    grow(all, tree.nodes()[n].value);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t a, uint32_t b) { return tree.nodes()[a].value > tree.nodes()[b].value; });
  for (const uint32_t n : rows) {
    const TreeNode& node = tree.nodes()[n];
    std::vector<uint32_t> path;
    for (uint32_t at = n; at != 0; at = tree.nodes()[at].parent) path.push_back(tree.nodes()[at].frame);
    std::string text;
    for (size_t i = path.size(); i-- > 0;) text += tree_frame_text(tree, tree.frames()[path[i]]) + (i == 0 ? "" : ";");
    Table::Row row = table.row();
    row.add(node.value);
    if (answer.estimated()) answer.add_half_cell(row, answer.groups[n]);
    row.add_percent(node.value, all);
    row.add(node.count).add(std::string_view(text));
  }
  table.notes.push_back(
      "from the outermost frame inwards; the last one is the call or operation itself; share: of the whole metric");
  if (answer.without_stack != 0 && all > 0) {
    table.notes.push_back(fmt::format("without a stack: {:.2f} % of the metric",
                                      100 * static_cast<double>(answer.without_stack) / static_cast<double>(all)));
  }
  table.notes.insert(table.notes.end(), answer.notes.begin(), answer.notes.end());
  table.text_limit = 20;
  return table;
}

}  // namespace prof::analyzer
