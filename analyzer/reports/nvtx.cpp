// nvtx: how much GPU time belongs to each NVTX range and annotation? Rows are texts or, with --group-by path, chains of
// open ranges. Definitions: docs/reports/nvtx.md.
#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/analysis/graph_launches.h"
#include "analyzer/analysis/range_projection.h"
#include "analyzer/analysis/range_row_names.h"
#include "analyzer/analysis/range_state.h"
#include "analyzer/base/saturated.h"
#include "analyzer/model/event_names.h"
#include "analyzer/model/event_tree.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

namespace prof::analyzer {

namespace {

// Chains of open ranges by the names in tables. PathIds whose texts differ only in numbers of emit_nvtx are one chain.
// Texts are created on demand, because the texts of n nested ranges have a total length of n squared.
class NamedPaths {
 public:
  NamedPaths(const Trace& trace, const EventNames& names) : names_(names), of_path_(trace.paths.size()) {
    std::unordered_map<uint64_t, uint32_t> known;
    for (uint32_t path = 1; path < trace.paths.size(); ++path) {
      const PathNode& node = trace.paths[path];  // parents precede their children
      const Named named{of_path_[index(node.parent)], names.of(node.label)};
      const uint64_t key = uint64_t{named.parent} << 32 | static_cast<uint32_t>(named.name);
      const auto [found, added] = known.try_emplace(key, static_cast<uint32_t>(named_.size()));
      if (added) named_.push_back(named);
      of_path_[path] = found->second;
    }
  }
  uint32_t of(PathId path) const { return of_path_[index(path)]; }
  std::string text(uint32_t id) const {
    std::vector<std::string_view> parts;
    for (; id != 0; id = named_[id].parent) parts.push_back(names_.text(named_[id].name));
    std::reverse(parts.begin(), parts.end());
    return fmt::format("{}", fmt::join(parts, "/"));
  }

 private:
  struct Named {
    uint32_t parent = 0;
    StringId name{};
  };
  const EventNames& names_;
  std::vector<uint32_t> of_path_;
  std::vector<Named> named_{Named{}};
};

struct RangeSums {
  uint32_t number = 0;  // number of its group in the estimates
  uint64_t count = 0, with_gpu = 0, levels = 0, operations = 0;
  int64_t cpu_ns = 0, span_ns = 0, busy_ns = 0, sum_ns = 0;
  int64_t first_ns = INT64_MAX;
  std::string_view kind;
};

// (name or path, domain, style)
using RangeKey = std::tuple<uint32_t, uint32_t, RangeStyle>;

void add(RangeSums& sums, const Range& range, const Projection& projection) {
  sums.kind = range.kind == RangeKind::Nvtx ? "nvtx" : "annotation";
  ++sums.count;
  sums.levels += range.level;
  sums.first_ns = std::min(sums.first_ns, range.begin_ns);
  sums.cpu_ns = add_saturated(sums.cpu_ns, time_between(range.begin_ns, range.end_ns));
  if (projection.operations == 0) return;
  ++sums.with_gpu;
  sums.operations += projection.operations;
  sums.span_ns = add_saturated(sums.span_ns, projection.span_ns());
  sums.busy_ns = add_saturated(sums.busy_ns, projection.busy_ns);
  sums.sum_ns = add_saturated(sums.sum_ns, projection.sum_ns);
}

// A launch and its operations belong to every range around the launch. With --captured, operations belong to the ranges
// around the call that captured them. `group_of`: by row of Trace::ranges, kNone if the range has no row in the table.
void extrapolate(const AnalysisInput& input, const std::vector<uint32_t>& group_of, Estimates& estimates) {
  const Trace& trace = input.trace;
  const auto for_each_group = [&](uint32_t call, auto&& take) {
    uint32_t range = call == kNone ? kNone : input.views.range_of_call()[call];
    for (; range != kNone; range = trace.ranges[range].parent) {
      if (group_of[range] != kNone) take(group_of[range]);
    }
  };
  estimates.for_each_launch([&](uint32_t row) {
    if (!input.options.captured) for_each_group(row, [&](uint32_t group) { estimates.launch(row, group); });
  });
  for (uint32_t row = 0; row < trace.operations.size(); ++row) {
    const GpuOperation& operation = trace.operations[row];
    if (!input.selection.has_stream(trace, trace.stream(operation.stream())) ||
        !input.selection.nvtx.has_operation(row))
      continue;
    for_each_group(call_of(trace, input.views, operation, input.options.captured),
                   [&](uint32_t group) { estimates.add(operation, group); });
  }
}

}  // namespace

Table report_nvtx(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  bool by_path = false;
  for (const std::string& word : input.options.group_by) {
    if (word != "path") throw std::runtime_error(fmt::format("--group-by: nvtx knows path, not '{}'", word));
    by_path = true;
  }
  const EventNames& names = range_row_names(input);
  const NamedPaths paths(trace, names);
  std::vector<uint32_t> rows, nested;
  for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
    const Range& range = trace.ranges[row];
    if (range.kind != RangeKind::Nvtx && range.kind != RangeKind::Annotation) continue;
    if (!input.selection.nvtx.has_range(row) || !input.selection.has_thread(trace.thread(range.thread)) ||
        !input.selection.in_window(range.begin_ns, range.end_ns))
      continue;
    (range.style == RangeStyle::PushPop ? nested : rows).push_back(row);
  }
  const std::vector<Projection> projections = project_ranges(input, nested);
  std::map<RangeKey, RangeSums> groups;
  const auto group = [&](const Range& range) -> RangeSums& {
    const bool path = by_path && range.style == RangeStyle::PushPop;
    const RangeKey key{path ? paths.of(range.path) : static_cast<uint32_t>(names.of(range)),
                       index(trace.labels[index(range.label)].domain), range.style};
    const auto [found, added] = groups.try_emplace(key);
    if (added) found->second.number = static_cast<uint32_t>(groups.size());
    return found->second;
  };
  for (size_t i = 0; i < nested.size(); ++i)
    add(group(trace.ranges[nested[i]]), trace.ranges[nested[i]], projections[i]);
  for (const uint32_t row : rows) add(group(trace.ranges[row]), trace.ranges[row], {});
  Estimates estimates(input, input.options.captured ? RowsAre::ByWork : RowsAre::ByLaunch);
  if (estimates.any()) {
    std::vector<uint32_t> group_of(trace.ranges.size(), kNone);
    for (const uint32_t row : nested) group_of[row] = group(trace.ranges[row]).number;
    extrapolate(input, group_of, estimates);
  }

  Table table("nvtx", by_path ? "GPU time of ranges by path" : "GPU time of ranges by text");
  table.add_column(by_path ? ColumnId::path : ColumnId::range);
  table.add_columns({ColumnId::domain, ColumnId::kind, ColumnId::style, ColumnId::mean_level, ColumnId::count,
                     ColumnId::with_gpu, ColumnId::cpu_time_total, ColumnId::gpu_span, ColumnId::gpu_busy,
                     ColumnId::span_busy_percent, ColumnId::gpu_sum, ColumnId::operations});
  estimates.add_columns(table);
  std::vector<const std::pair<const RangeKey, RangeSums>*> order;
  for (const auto& each : groups) order.push_back(&each);
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    if (by_path) return a->second.first_ns < b->second.first_ns;
    return std::tuple(-a->second.busy_ns, -a->second.cpu_ns) < std::tuple(-b->second.busy_ns, -b->second.cpu_ns);
  });
  for (const auto* each : order) {
    const auto& [name, domain, style] = each->first;
    const RangeSums& sums = each->second;
    const bool nests = style == RangeStyle::PushPop;
    Table::Row row = table.row();
    if (by_path && nests) {
      row.add(std::string_view(paths.text(name)));
    } else {
      row.add(names.text(StringId{name}));
    }
    row.add(trace.text(StringId{domain})).add(sums.kind).add(std::string_view(nests ? "PushPop" : "StartEnd"));
    if (nests) {
      row.add(static_cast<double>(sums.levels) / static_cast<double>(sums.count));
    } else {
      row.empty();
    }
    row.add(sums.count);
    row.add_if(nests, sums.with_gpu);
    row.add(sums.cpu_ns);
    if (sums.with_gpu == 0) {
      row.empty().empty().empty().empty();
      row.add_if(nests, uint64_t{0});
      if (nests) {
        estimates.add_cells(row, sums.number);
      } else {
        estimates.add_no_cells(row);
      }
      continue;
    }
    row.add(sums.span_ns).add(sums.busy_ns);
    row.add_percent(sums.busy_ns, sums.span_ns);
    row.add(sums.sum_ns).add(sums.operations);
    estimates.add_cells(row, sums.number);
  }
  table.notes.push_back(
      "span: first start to last end of the operations launched inside; busy: their union; added over instances");
  if (!rows.empty())
    table.notes.push_back(
        "ranges of style StartEnd may end on another thread, so no launch is inside one: their GPU columns are empty; "
        "nvtx_gpu_proj_sum projects them as Nsight Systems does");
  note_folded_ranges(input, table.notes);
  note_open_ranges(input.trace, table.notes);
  estimates.add_notes(table);
  if (input.options.captured)
    table.notes.push_back("operations of CUDA graphs count in the ranges that captured them, where these are known");
  if (groups.empty()) table.notes.push_back("no NVTX ranges or annotations; operators are in report ops");
  return table;
}

}  // namespace prof::analyzer
