// fwd-bwd: how long did the forward and the backward of each operator take, on the CPU and on the GPU? A row is one
// name of the outermost forward operator that a backward operator belongs to. Definitions: docs/reports/fwd-bwd.md.
#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/base/saturated.h"
#include "analyzer/model/event_tree.h"
#include "analyzer/model/forward_backward.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace prof::analyzer {

namespace {

struct Pair {
  uint32_t number = 0;             // its groups in the estimates: forward 2 * number, backward 2 * number + 1
  std::vector<uint32_t> forwards;  // rows of the outermost forward operators, each once
  std::set<std::string_view> backward_names;
  int64_t forward_cpu_ns = 0, forward_gpu_ns = 0, backward_cpu_ns = 0, backward_gpu_ns = 0;
  uint64_t forward_count = 0, backward_count = 0, several = 0, higher_order = 0;
};

class Pairs {
 public:
  Pairs(const AnalysisInput& input, Estimates& estimates)
      : input_(input),
        trace_(input.trace),
        names_(input.views.event_names()),
        tree_(input.views.tree()),
        links_(input.views.forward_backward()) {
    gpu_ = device_times(trace_, tree_, true, [&](const GpuOperation& operation) {
      return input.selection.has_stream(trace_, trace_.stream(operation.stream())) &&
             input.selection.in_window(operation.start_ns, operation.end_ns);
    });
    if (estimates.any()) groups_of_.resize(tree_.size());
    for (const BackwardLink& link : links_.links()) add(link);
    for (auto& [name, pair] : pairs_) add_forwards(pair);
    if (estimates.any()) extrapolate(estimates);
  }

  const std::map<std::string_view, Pair>& pairs() const { return pairs_; }  // "": no forward operator found
  const ForwardBackward& links() const { return links_; }

 private:
  bool selected(const Range& range) const {
    return input_.selection.has_thread(trace_.thread(range.thread)) &&
           input_.selection.in_window(range.begin_ns, range.end_ns);
  }

  // Operators of a chain that was merged into one have the same node.
  uint32_t node(uint32_t range_row) const { return tree_.of_range(range_row); }

  void add(const BackwardLink& link) {
    const Range& backward = trace_.ranges[link.outer_backward];
    if (!input_.selection.nvtx.has_range(link.outer_backward) || !selected(backward)) return;
    const bool found = link.outer_forward != kNone;
    const auto [at_pair, added] =
        pairs_.try_emplace(found ? names_.text(names_.of(trace_.ranges[link.outer_forward])) : std::string_view());
    Pair& pair = at_pair->second;
    if (added) pair.number = static_cast<uint32_t>(pairs_.size());
    if (found) pair.forwards.push_back(link.outer_forward);
    pair.backward_names.insert(names_.text(names_.of(trace_.ranges[link.backward])));
    ++pair.backward_count;
    pair.several += link.others != 0 ? 1 : 0;
    pair.higher_order += link.order > 1 ? 1 : 0;
    pair.backward_cpu_ns = add_saturated(pair.backward_cpu_ns, time_between(backward.begin_ns, backward.end_ns));
    const uint32_t at = node(link.outer_backward);
    if (at == kNone) return;
    pair.backward_gpu_ns = add_saturated(pair.backward_gpu_ns, gpu_.total_ns[at]);
    count_node(at, 2 * pair.number + 1);
  }

  // Counts each forward operator once. If operators of one name are nested, their time counts once.
  void add_forwards(Pair& pair) {
    std::sort(pair.forwards.begin(), pair.forwards.end());
    pair.forwards.erase(std::unique(pair.forwards.begin(), pair.forwards.end()), pair.forwards.end());
    pair.forward_count = pair.forwards.size();
    const Range* counted = nullptr;
    for (const uint32_t row : pair.forwards) {
      const Range& range = trace_.ranges[row];
      if (counted != nullptr && counted->thread == range.thread && range.end_ns <= counted->end_ns) continue;
      counted = &range;
      pair.forward_cpu_ns = add_saturated(pair.forward_cpu_ns, time_between(range.begin_ns, range.end_ns));
      if (node(row) == kNone) continue;
      pair.forward_gpu_ns = add_saturated(pair.forward_gpu_ns, gpu_.total_ns[node(row)]);
      count_node(node(row), 2 * pair.number);
    }
  }

  void count_node(uint32_t at, uint32_t group) {
    if (!groups_of_.empty()) groups_of_[at].push_back(group);
  }

  // A launch belongs to the rows that count a node around it.
  void extrapolate(Estimates& estimates) const {
    const auto for_each_group = [&](uint32_t call, auto&& take) {
      for (uint32_t at = node_of_launch(tree_, call, true); at != kNone; at = tree_[at].parent) {
        for (const uint32_t group : groups_of_[at]) take(group);
      }
    };
    estimates.for_each_launch(
        [&](uint32_t row) { for_each_group(row, [&](uint32_t group) { estimates.launch(row, group); }); });
    for (const GpuOperation& operation : trace_.operations) {
      if (!operation.linked() || !input_.selection.has_stream(trace_, trace_.stream(operation.stream()))) continue;
      for_each_group(operation.launch, [&](uint32_t group) { estimates.add(operation, group); });
    }
  }

  const AnalysisInput& input_;
  const Trace& trace_;
  const EventNames& names_;
  const EventTree& tree_;
  const ForwardBackward& links_;
  DeviceTimes gpu_;
  std::vector<std::vector<uint32_t>> groups_of_;  // by node; empty if there is nothing to extrapolate
  std::map<std::string_view, Pair> pairs_;
};

std::string joined(const std::set<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  return text;
}

}  // namespace

Table report_fwd_bwd(const AnalysisInput& input) {
  // The forward of a selected backward operator may itself not be selected. So launches of all threads and ranges are
  // needed here.
  Selection everything;
  everything.processes = input.selection.processes;
  const AnalysisInput all{input.trace, input.views, everything, input.options};
  Estimates estimates(all, RowsAre::ByLaunch);
  const Pairs pairs(input, estimates);
  Table table("fwd-bwd", "Forward operators and their backward");
  table.add_columns({ColumnId::forward, ColumnId::forward_count, ColumnId::forward_cpu, ColumnId::forward_gpu});
  estimates.add_columns(table, {ColumnId::estimated_forward_gpu_count, ColumnId::estimated_forward_gpu_total,
                                ColumnId::estimated_forward_gpu_half_width, ColumnId::forward_gpu_not_met});
  table.add_columns({ColumnId::backward_count, ColumnId::backward_cpu, ColumnId::backward_gpu});
  estimates.add_columns(table, {ColumnId::estimated_backward_gpu_count, ColumnId::estimated_backward_gpu_total,
                                ColumnId::estimated_backward_gpu_half_width, ColumnId::backward_gpu_not_met});
  table.add_columns({ColumnId::cpu_ratio, ColumnId::gpu_ratio, ColumnId::several_candidates, ColumnId::higher_order,
                     ColumnId::backward});
  const auto ratio = [](Table::Row& row, int64_t of, int64_t to) {
    if (to > 0) {
      row.add(static_cast<double>(of) / static_cast<double>(to));
    } else {
      row.empty();
    }
  };
  std::vector<const std::pair<const std::string_view, Pair>*> order;
  for (const auto& each : pairs.pairs()) order.push_back(&each);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    const auto key = [](const Pair& p) {
      return std::pair(-add_saturated(p.forward_gpu_ns, p.backward_gpu_ns), -p.backward_cpu_ns);
    };
    return key(a->second) < key(b->second);
  });
  for (const auto* each : order) {
    const Pair& pair = each->second;
    const bool found = !each->first.empty();
    Table::Row row = table.row();
    row.add(found ? each->first : std::string_view("[no forward operator found]"));
    if (found) {
      row.add(pair.forward_count).add(pair.forward_cpu_ns).add(pair.forward_gpu_ns);
      estimates.add_cells(row, 2 * pair.number);
    } else {
      row.empty().empty().empty();
      estimates.add_no_cells(row);
    }
    row.add(pair.backward_count).add(pair.backward_cpu_ns).add(pair.backward_gpu_ns);
    estimates.add_cells(row, 2 * pair.number + 1);
    ratio(row, pair.backward_cpu_ns, pair.forward_cpu_ns);
    ratio(row, pair.backward_gpu_ns, pair.forward_gpu_ns);
    row.add(pair.several).add(pair.higher_order).add(std::string_view(joined(pair.backward_names)));
  }
  estimates.add_notes(table);
  const ForwardBackward& links = pairs.links();
  table.notes.push_back(fmt::format("{} backward operators, {} without a forward operator, {} with several candidates",
                                    links.links().size(), links.unmatched(), links.ambiguous()));
  if (links.links().empty())
    table.notes.push_back(
        "no sequence numbers: record with torch.profiler or inside torch.autograd.profiler.emit_nvtx()");
  return table;
}

}  // namespace prof::analyzer
