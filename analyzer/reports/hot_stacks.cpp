// hot-stacks: which source lines does a metric belong to? A row is a function at a line. `self`: the value that it
// caused directly. `total`: the value of everything that it called. It counts once per stack, even if the function is
// in the stack several times (recursion). `backward`: the value of backward operators, on threads of their own, whose
// forward operator the function called.
#include "analyzer/analysis/stacks/stack_tree.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

namespace prof::analyzer {

namespace {

constexpr std::string_view kKinds[] = {"native", "inlined",   "Python",     "folded", "GPU",
                                       "call",   "no symbol", "forward of", "run by", "line in kernel"};

struct Hot {
  uint32_t frame = 0;
  int64_t self = 0, total = 0, backward = 0;
  uint64_t count = 0;  // events in `total` and `backward`
  std::vector<uint32_t> self_groups, total_groups;
};

// The leaves of the tree are GPU operations and calls, not code.
bool is_code(const TreeFrame& frame) { return frame.kind != TreeFrameKind::Gpu && frame.kind != TreeFrameKind::Call; }

std::vector<Hot> hot_frames(const StackTree& answer) {
  const CallTree& tree = answer.tree;
  const auto add_groups = [&](std::vector<uint32_t>& to, uint32_t node) {
    if (answer.estimated()) to.insert(to.end(), answer.groups[node].begin(), answer.groups[node].end());
  };
  const std::vector<TreeNode>& nodes = tree.nodes();
  std::vector<Hot> hot(tree.frames().size());
  std::vector<uint32_t> seen(tree.frames().size(), 0);  // by frame: the last node that was counted for it
  for (uint32_t n = 1; n < nodes.size(); ++n) {
    if (nodes[n].count == 0) continue;
    bool innermost = true, forward = false;
    for (uint32_t at = n; at != 0; at = nodes[at].parent) {
      const uint32_t frame = nodes[at].frame;
      if (!is_code(tree.frames()[frame])) continue;
      if (innermost) {
        grow(hot[frame].self, nodes[n].value);
        add_groups(hot[frame].self_groups, n);
      }
      innermost = false;
      if (seen[frame] != n) grow(forward ? hot[frame].backward : hot[frame].total, nodes[n].value);
      if (seen[frame] != n && !forward) add_groups(hot[frame].total_groups, n);
      if (seen[frame] != n) hot[frame].count += nodes[n].count;
      seen[frame] = n;
      forward |= tree.frames()[frame].kind == TreeFrameKind::Forward;
    }
  }
  for (uint32_t f = 0; f < hot.size(); ++f) hot[f].frame = f;
  std::erase_if(hot, [](const Hot& each) { return each.count == 0; });
  std::stable_sort(hot.begin(), hot.end(), [](const Hot& a, const Hot& b) {
    return std::tuple(a.self, a.total, a.backward) > std::tuple(b.self, b.total, b.backward);
  });
  return hot;
}

}  // namespace

Table report_hot_stacks(const AnalysisInput& input) {
  const StackTree answer = stack_tree(input, stack_metric(input.options.metric));
  const CallTree& tree = answer.tree;
  const CellType type = tree.unit == "nanoseconds" ? CellType::Nanoseconds : CellType::Count;
  Table table("hot-stacks", fmt::format("{} by function and line", tree.metric));
  table.add_column(ColumnId::self, type);
  answer.add_half_column(table, ColumnId::self_half_width);
  table.add_column(ColumnId::self_percent);
  table.add_column(ColumnId::total, type);
  answer.add_half_column(table, ColumnId::total_half_width);
  table.add_column(ColumnId::total_percent);
  const bool forward = std::any_of(tree.frames().begin(), tree.frames().end(),
                                   [](const TreeFrame& frame) { return frame.kind == TreeFrameKind::Forward; });
  if (forward) {
    table.add_column(ColumnId::backward_value, type);
    table.add_column(ColumnId::backward_percent);
  }
  table.add_columns({ColumnId::count, ColumnId::kind, ColumnId::function, ColumnId::source, ColumnId::module});
  int64_t all = 0;
  for (const TreeNode& node : tree.nodes()) grow(all, node.value);
  for (const Hot& each : hot_frames(answer)) {
    const TreeFrame& frame = tree.frames()[each.frame];
    const std::string_view file = tree.text(frame.file);
    Table::Row row = table.row();
    const auto add = [&](int64_t value, const std::vector<uint32_t>* groups) {
      row.add(value);
      if (groups != nullptr) answer.add_half_cell(row, *groups);
      row.add_percent(value, all);
    };
    add(each.self, &each.self_groups);
    add(each.total, &each.total_groups);
    if (forward) add(each.backward, nullptr);
    row.add(each.count).add(kKinds[static_cast<size_t>(frame.kind)]).add(tree.text(frame.name));
    if (file.empty()) {
      row.empty();
    } else {
      row.add(std::string_view(frame.line == 0 ? std::string(file) : fmt::format("{}:{}", file, frame.line)));
    }
    row.add(tree.text(frame.module));
  }
  table.notes.push_back(
      "self: in that frame itself; total: in the frame and in what it called; shares of the whole metric");
  if (forward) table.notes.push_back("backward: in backward operators whose forward operator was called there");
  if (answer.without_stack != 0 && all > 0) {
    table.notes.push_back(fmt::format("without a stack: {:.2f} % of the metric",
                                      100 * static_cast<double>(answer.without_stack) / static_cast<double>(all)));
  }
  table.notes.insert(table.notes.end(), answer.notes.begin(), answer.notes.end());
  table.text_limit = 40;
  return table;
}

}  // namespace prof::analyzer
